#if os(Linux)
    import Foundation

    /// Keeps the session in the Secret Service when there is one, else in a file of mode 0600; everything
    /// else is in files.
    ///
    /// A desktop's Secret Service comes and goes: it is locked, or missing in a remote shell. So the session
    /// may be in either place, and each copy carries the time it was written; the newest one counts. A file
    /// named `secret-service` notes that the service was used: while it cannot be asked, such a session is
    /// unknown and not gone. A log-out that cannot reach the service leaves a dated note in the file.
    final class LinuxStore: DataStore {
        /// The copy of an item in one place.
        private struct Copy: Codable {
            /// Milliseconds since 1970.
            var savedAt: Int64
            /// `nil` after a log-out.
            var value: JSONTree?
        }

        private static let mark = "secret-service"

        private let directory: PrivateDirectory
        private let service: SecretService
        private let program: String
        private let applicationId: String

        init(directory: PrivateDirectory, service: SecretService, program: String, applicationId: String) {
            self.directory = directory
            self.service = service
            self.program = program
            self.applicationId = applicationId
        }

        // MARK: Reading

        func readData(_ key: ItemKey) throws -> Data? {
            guard key.isSecret else { return try directory.read(file(key)) }
            return try newest(key)?.value?.data
        }

        private func newest(_ key: ItemKey) throws -> Copy? {
            let inFile = try directory.read(file(key)).map { try decode($0) }
            guard try directory.read(Self.mark) != nil else {
                // The service was never used here, unless the directory was deleted since.
                guard inFile == nil, let found = try? service.lookup(name(key)) else { return inFile }
                try? directory.write(Data(), Self.mark)
                return try decode(Data(found.utf8))
            }
            do {
                let inService = try lookup(key)
                guard let inFile else { return inService }
                guard let inService else { return inFile }
                return inService.savedAt >= inFile.savedAt ? inService : inFile
            } catch {
                // The file is newer than whatever the service has: it is written only without it.
                if let inFile { return inFile }
                throw error
            }
        }

        /// The copy in the service.
        ///
        /// - Throws: ``StoreError`` when the service cannot be asked.
        /// - Returns: The copy, `nil` when there certainly is none.
        private func lookup(_ key: ItemKey) throws -> Copy? {
            guard service.isUsable() else {
                throw StoreError("The Secret Service, which has the session, is not available.")
            }
            if let found = try service.lookup(name(key)) { return try decode(Data(found.utf8)) }
            // Locked in the meantime looks the same as empty.
            guard service.probe() else {
                throw StoreError("The Secret Service, which has the session, is locked.")
            }
            return nil
        }

        // MARK: Writing

        func writeData(_ data: Data, _ key: ItemKey) throws {
            guard key.isSecret else { return try directory.write(data, file(key)) }
            try directory.exclusively {
                try put(Copy(savedAt: now(after: key), value: JSONTree(parsing: data)), key)
            }
        }

        private func put(_ copy: Copy, _ key: ItemKey) throws {
            if service.isUsable() {
                do {
                    // The mark first: without it nobody would look there.
                    try directory.write(Data(), Self.mark)
                    try service.store(text(copy), name(key), label: "\(program): session")
                    try directory.remove(file(key))
                    return
                } catch {
                    // The file it is.
                }
            }
            try directory.write(Data(text(copy).utf8), file(key))
        }

        func createData(_ data: Data, _ key: ItemKey) throws -> Data {
            guard key.isSecret else { return try directory.create(data, file(key)) }
            return try directory.exclusively {
                if let kept = try newest(key)?.value?.data { return kept }
                try put(Copy(savedAt: now(after: key), value: JSONTree(parsing: data)), key)
                return data
            }
        }

        func remove(_ key: ItemKey) throws {
            guard key.isSecret else { return try directory.remove(file(key)) }
            try directory.exclusively {
                guard try directory.read(Self.mark) != nil else { return try directory.remove(file(key)) }
                do {
                    guard service.isUsable() else { throw StoreError("The Secret Service is not available.") }
                    try service.clear(name(key))
                    // A locked store clears nothing and does not say so.
                    guard service.probe() else { throw StoreError("The Secret Service is locked.") }
                    try directory.remove(file(key))
                } catch {
                    // The service still has the session, and must not be believed when it comes back.
                    try directory.write(
                        Data(text(Copy(savedAt: now(after: key), value: nil)).utf8),
                        file(key)
                    )
                }
            }
        }

        // MARK: Parts

        private func file(_ key: ItemKey) -> String { key.rawValue + ".json" }

        private func name(_ key: ItemKey) -> SecretName {
            SecretName(
                service: program + ".parseSwift.sdk",
                application: applicationId,
                account: key.rawValue
            )
        }

        /// Now, but later than the newest copy: clocks are set back at times.
        private func now(after key: ItemKey) -> Int64 {
            let last = (try? newest(key))?.savedAt ?? 0
            return max(ParseDate.milliseconds(Date()), last + 1)
        }

        private func text(_ copy: Copy) -> String {
            JSONTree.object(["savedAt": .int(copy.savedAt), "value": copy.value ?? .null]).text
        }

        private func decode(_ data: Data) throws -> Copy {
            do {
                return try JSONDecoder().decode(Copy.self, from: data)
            } catch {
                throw StoreError("The stored session is damaged.")
            }
        }
    }
#endif
