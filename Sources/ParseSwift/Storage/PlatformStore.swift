import Foundation

/// The store of the platform.
enum PlatformStore {
    static func make(_ configuration: ParseConfiguration) -> any ItemStore {
        MemoryStore()
    }
}
