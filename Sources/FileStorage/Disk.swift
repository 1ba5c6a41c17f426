import ParseCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Calls of the system that block, with errors that say what was tried.
enum Disk {
    static func failure(_ operation: String, _ number: Int32 = errno) -> FileStoreError {
        .failed("\(operation): \(String(cString: strerror(number)))")
    }

    /// Makes a folder that its owner alone can read; returns whether it was not there before.
    static func makeFolder(_ path: String) throws(FileStoreError) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw failure("make a folder") }
        return false
    }

    /// Waits until the entries of a folder are on disk.
    static func syncFolder(_ path: String) throws(FileStoreError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open a folder") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync a folder") }
    }

    /// Takes a folder for oneself, against others in this and in other processes, until the descriptor is closed.
    ///
    /// On a file system without locks there is nobody to take turns with.
    static func lockFolder(_ path: String) throws(FileStoreError) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open a folder") }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return descriptor
    }

    static func rename(_ from: String, to path: String) throws(FileStoreError) {
        #if canImport(Glibc)
            let code = Glibc.rename(from, path)
        #else
            let code = Darwin.rename(from, path)
        #endif
        guard code == 0 else { throw failure("rename") }
    }

    /// Deletes a file; returns whether there was one.
    static func remove(_ path: String) throws(FileStoreError) -> Bool {
        if unlink(path) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw failure("delete") }
        return false
    }

    /// Deletes a file, or a folder with all that is in it; links are not followed.
    static func removeTree(_ path: String) throws(FileStoreError) {
        if unlink(path) == 0 || errno == ENOENT { return }
        let number = errno
        guard number == EISDIR || number == EPERM else { throw failure("delete", number) }
        for name in try names(in: path) { try removeTree(path + "/" + name) }
        guard rmdir(path) == 0 || errno == ENOENT else { throw failure("delete a folder") }
    }

    static func names(in path: String) throws(FileStoreError) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw failure("read a folder")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                // SAFETY: the system ends the name with a zero within the array that holds it.
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(FileStoreError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                #if canImport(Glibc)
                    Glibc.write(descriptor, $0.baseAddress, $0.count)
                #else
                    Darwin.write(descriptor, $0.baseAddress, $0.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write") }
            written += count
        }
    }

    /// Fewer bytes than were asked for only at the end of the file.
    static func read(_ descriptor: Int32, from offset: Int, count: Int) throws(FileStoreError) -> [UInt8] {
        var problem: FileStoreError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // SAFETY: `filled` counts the bytes that the system has written from the start of the buffer.
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]
                )
                let got = pread(descriptor, rest.baseAddress, count - filled, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { problem = failure("read") }
                guard got > 0 else { return }
                filled += got
            }
        }
        if let problem { throw problem }
        return bytes
    }
}
