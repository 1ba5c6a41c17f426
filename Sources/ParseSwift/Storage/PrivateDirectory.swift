#if canImport(Glibc)
    import Foundation
    import Glibc

    /// A directory of small files that only this user can read.
    ///
    /// Files are replaced as a whole: written beside, flushed to the disk, renamed. Readers in other
    /// processes see the old file or the new one.
    struct PrivateDirectory: Sendable {
        static let fileLimit = 1 << 20

        /// An absolute path.
        let path: String
        /// Its last components that belong to this module and are made with mode 0700.
        private let ownPath: [String]
        private let base: String

        /// - Parameters:
        ///   - base: An absolute path; it is made if need be.
        ///   - own: The components below it.
        init(base: String, own: [String]) {
            self.base = base
            ownPath = own
            path = ([base] + own).joined(separator: "/")
        }

        /// The content of the file, `nil` when there certainly is none.
        ///
        /// A file that others can read is closed to them first.
        ///
        /// - Throws: ``StoreError`` when it cannot be known, or the file belongs to somebody else.
        func read(_ name: String) throws -> Data? {
            let file = open(path + "/" + name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else {
                // ENOTDIR and EACCES are not "no such file": something is in the way.
                if errno == ENOENT { return nil }
                throw failure("read", name)
            }
            defer { close(file) }
            try check(file, name)
            var data = Data()
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = Glibc.read(file, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw failure("read", name) }
                if count == 0 { return data }
                data.append(contentsOf: buffer[..<count])
                guard data.count <= Self.fileLimit else {
                    throw StoreError("\(path)/\(name) is larger than \(Self.fileLimit) bytes.")
                }
            }
        }

        /// Replaces the file.
        ///
        /// - Throws: ``StoreError``; the old file is then untouched.
        func write(_ data: Data, _ name: String) throws {
            let draft = try writeDraft(data, name)
            guard rename(draft, path + "/" + name) == 0 else {
                let error = failure("write", name)
                unlink(draft)
                throw error
            }
            flush()
        }

        /// Makes the file unless there is one, in one step also between processes.
        ///
        /// - Throws: ``StoreError``.
        /// - Returns: What is in the file afterwards.
        func create(_ data: Data, _ name: String) throws -> Data {
            if let kept = try read(name) { return kept }
            let draft = try writeDraft(data, name)
            defer { unlink(draft) }
            if link(draft, path + "/" + name) == 0 {
                flush()
                return data
            }
            guard errno == EEXIST, let kept = try read(name) else { throw failure("write", name) }
            return kept
        }

        /// Removes the file; that there is none is no error.
        ///
        /// - Throws: ``StoreError``.
        func remove(_ name: String) throws {
            guard unlink(path + "/" + name) == 0 else {
                if errno == ENOENT { return }
                throw failure("remove", name)
            }
            flush()
        }

        /// Runs `body` while no other process and no other thread does.
        ///
        /// When the lock cannot be had within two seconds it runs all the same: better two writers, of whom
        /// the later one wins, than an app that hangs.
        func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
            try make()
            let file = open(path + "/lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { return try body() }
            defer { close(file) }
            for _ in 0..<200 {
                if flock(file, LOCK_EX | LOCK_NB) == 0 { break }
                usleep(10_000)
            }
            return try body()
        }

        private func writeDraft(_ data: Data, _ name: String) throws -> String {
            try make()
            let draft = path + "/." + name + "." + UUID().uuidString
            let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw failure("write", name) }
            let isWritten = data.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    // SAFETY: the range stays inside the buffer.
                    let count = Glibc.write(file, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    sent += count
                }
                // The umask may have taken bits away, but never adds any.
                return fchmod(file, 0o600) == 0 && fsync(file) == 0
            }
            let error = failure("write", name)
            guard close(file) == 0, isWritten else {
                unlink(draft)
                throw error
            }
            return draft
        }

        private func check(_ file: Int32, _ name: String) throws {
            var info = stat()
            guard fstat(file, &info) == 0 else { throw failure("read", name) }
            guard info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid() else {
                throw StoreError("\(path)/\(name) is not a file of this user.")
            }
            if info.st_mode & 0o077 != 0, fchmod(file, 0o600) != 0 {
                throw StoreError("\(path)/\(name) can be read by others, and that cannot be changed.")
            }
        }

        private func make() throws {
            var info = stat()
            var made = base
            if stat(base, &info) != 0 {
                try FileManager.default.createDirectory(
                    atPath: base,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            }
            for component in ownPath {
                made += "/" + component
                if mkdir(made, 0o700) != 0 {
                    guard errno == EEXIST else { throw failure("make", "") }
                    guard lstat(made, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid()
                    else { throw StoreError("\(made) is not a directory of this user.") }
                    if info.st_mode & 0o077 != 0 { chmod(made, 0o700) }
                }
            }
        }

        /// Makes a rename or removal outlive a power cut.
        private func flush() {
            let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard directory >= 0 else { return }
            fsync(directory)
            close(directory)
        }

        private func failure(_ what: String, _ name: String) -> StoreError {
            StoreError("Cannot \(what) \(path)/\(name): \(String(cString: strerror(errno))).")
        }
    }
#endif
