import EventLoop
import ParseCore
import ParseWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file on the local disk that is being read.
final class LocalFile: OpenFile {
    let size: Int
    let modifiedAt: Timestamp
    let version: String
    private let descriptor: Int32
    private let work: DiskWork

    /// Opens a file; `nil` when there is none.
    init?(_ path: String, work: DiskWork) throws(FileStoreError) {
        let opened = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Disk.failure("open")
        }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw FileStoreError.failed("open: this is no file")
        }
        #if canImport(Glibc)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        descriptor = opened
        self.work = work
        size = Int(status.st_size)
        let (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec))
        modifiedAt = Timestamp(milliseconds: seconds * 1000 + nanoseconds / 1_000_000)
        // Every save makes a new file, so no two contents share all three.
        version = [Int64(status.st_ino), Int64(size), seconds &* 1_000_000_000 &+ nanoseconds]
            .map { String(UInt64(bitPattern: $0), radix: 36) }.joined(separator: "-")
    }

    deinit { close(descriptor) }

    /// All of it, on the thread of the caller, which may wait for the disk.
    func readNow() throws(FileStoreError) -> [UInt8] {
        try Disk.read(descriptor, from: 0, count: size)
    }

    func read(from offset: Int, count: Int) async throws -> [UInt8] {
        let count = max(0, min(count, size - offset))
        guard count > 0 else { return [] }
        return try await work.run { [self] in try Disk.read(descriptor, from: offset, count: count) }
    }
}
