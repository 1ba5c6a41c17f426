import Cryptography
import Locking
import ParseCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is being written where nobody looks; it disappears unless it is moved to its place.
final class TemporaryFile: Sendable {
    private let path: String
    /// `nil` once it is closed.
    private let descriptor: Locked<Int32?>
    private let isInPlace = Locked(false)

    init(in folder: String) throws(FileStoreError) {
        path = folder + "/" + SecureRandom.hex(byteCount: 16)
        let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw Disk.failure("make a file") }
        descriptor = Locked(opened)
    }

    deinit { discard() }

    func append(_ bytes: [UInt8]) throws {
        try descriptor.withLock { descriptor in
            guard let descriptor else { throw FileStoreError.failed("write: the file is closed") }
            try Disk.write(bytes, to: descriptor)
        }
    }

    /// Waits until all of it is on disk, and closes it.
    func finish() throws {
        try descriptor.withLock { descriptor in
            guard let open = descriptor else { throw FileStoreError.failed("sync: the file is closed") }
            guard fsync(open) == 0 else { throw Disk.failure("sync") }
            descriptor = nil
            // Some file systems say only now that the disk is full.
            guard close(open) == 0 || errno == EINTR else { throw Disk.failure("close") }
        }
    }

    func move(to place: String) throws(FileStoreError) {
        try Disk.rename(path, to: place)
        isInPlace.withLock { $0 = true }
    }

    /// Closes and deletes it, unless it is in its place.
    func discard() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
        let isDone = isInPlace.withLock { isInPlace in
            defer { isInPlace = true }
            return isInPlace
        }
        if !isDone { unlink(path) }
    }
}
