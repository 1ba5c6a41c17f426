import Cryptography
import Locking
import ParseCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where one process writes files before they are moved to their place.
///
/// Several processes may share a store. Each has a folder of its own below `+incoming`, and holds a lock on it for
/// as long as it lives; a folder that nobody holds was left by a crash.
final class IncomingFolder: Sendable {
    static let name = "+incoming"

    let path: String
    /// `nil` once it is given up.
    private let lock: Locked<Int32?>

    /// Makes a folder, and deletes those that crashes have left.
    init(root: String) throws(FileStoreError) {
        let parent = "\(root)/\(Self.name)"
        _ = try Disk.makeFolder(parent)
        // One process at a time, so that none takes the new folder of another for one that was left.
        let turn = try Disk.lockFolder(parent)
        defer { close(turn) }
        path = "\(parent)/\(SecureRandom.hex(byteCount: 16))"
        _ = try Disk.makeFolder(path)
        lock = Locked(try Disk.lockFolder(path))
        for name in try Disk.names(in: parent) where "\(parent)/\(name)" != path {
            try Self.removeUnlessHeld("\(parent)/\(name)")
        }
    }

    deinit { giveUp() }

    /// Lets the folder go; what is written into it from now on may disappear.
    func giveUp() {
        lock.withLock { lock in
            guard let held = lock else { return }
            rmdir(path)
            close(held)
            lock = nil
        }
    }

    private static func removeUnlessHeld(_ path: String) throws(FileStoreError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        // No folder: a file that nobody can have written.
        guard descriptor >= 0 else { return try Disk.removeTree(path) }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try Disk.removeTree(path) }
    }
}
