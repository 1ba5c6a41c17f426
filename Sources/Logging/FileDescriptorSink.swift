import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes lines to a file descriptor, each with one `write` where the system takes it whole.
///
/// Lines from several threads never mix. A line the system refuses is lost: there is nowhere to report
/// it, and the server must not stop for its log.
package final class FileDescriptorSink: Sendable {
    private let descriptor: Locked<Int32>

    /// Uses an open descriptor, which stays the caller's to close.
    package init(_ descriptor: Int32) {
        self.descriptor = Locked(descriptor)
    }

    /// Writes a line that ends with a line feed.
    package func write(_ line: [UInt8]) {
        descriptor.withLock { descriptor in
            line.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                    if count > 0 {
                        rest = rest.dropFirst(count)
                    } else if errno == EAGAIN {
                        // The descriptor was made non-blocking by someone it is shared with.
                        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        guard poll(&wait, 1, 100) > 0 else { return }
                    } else if errno != EINTR {
                        return
                    }
                }
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
