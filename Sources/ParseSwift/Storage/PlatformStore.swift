import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The store of the platform.
enum PlatformStore {
    static func make(_ configuration: ParseConfiguration) -> any ItemStore {
        #if canImport(Security)
            return KeychainStore(configuration)
        #elseif os(Linux)
            guard let base = dataHome(ProcessInfo.processInfo.environment) else { return MemoryStore() }
            return linux(base: base, configuration.applicationId)
        #else
            return MemoryStore()
        #endif
    }

    #if os(Linux)
        /// The place for the user's data, as the XDG base directory specification has it; `nil` for a user
        /// without a home.
        static func dataHome(_ environment: [String: String]) -> String? {
            if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data }
            if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/share" }
            guard let entry = getpwuid(geteuid()), let home = entry.pointee.pw_dir else { return nil }
            // SAFETY: `getpwuid` gives a string that ends with zero; it is copied at once.
            let path = String(cString: home)
            var info = stat()
            guard path.hasPrefix("/"), path != "/", stat(path, &info) == 0 else { return nil }
            return path + "/.local/share"
        }

        static func linux(
            base: String,
            _ applicationId: String,
            service: SecretService = .shared,
            program: String = program
        ) -> LinuxStore {
            LinuxStore(
                directory: PrivateDirectory(
                    base: base,
                    own: ["parse-swift", fileName(program), fileName(applicationId)]
                ),
                service: service,
                program: program,
                applicationId: applicationId
            )
        }

        /// Names the app; two programs of one user never share a session.
        static var program: String {
            Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        }

        /// The text as the name of a file: letters, digits and a few signs stay, the rest is percent-encoded.
        static func fileName(_ text: String) -> String {
            let encoded = text.utf8.map { byte -> String in
                let scalar = Unicode.Scalar(byte)
                let isPlain =
                    scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                if isPlain || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") {
                    return String(Character(scalar))
                }
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            return encoded.isEmpty ? "%" : encoded
        }
    #endif
}
