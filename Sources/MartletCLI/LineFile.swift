import Martlet

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is read line by line, or written, a piece at a time.
final class LineFile {
    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// How many bytes have been taken.
    private(set) var position = 0

    static var standardInput: LineFile { LineFile(STDIN_FILENO, "standard input") }
    static var standardOutput: LineFile { LineFile(STDOUT_FILENO, "standard output") }

    private init(_ descriptor: Int32, _ name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// - Throws: ``ConfigurationError`` when it cannot be read.
    convenience init(opening path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ConfigurationError("The file \(path) cannot be read: \(DataFolder.reason(errno)).")
        }
        self.init(descriptor, "The file \(path)")
    }

    /// - Throws: ``ConfigurationError`` when it cannot be made.
    convenience init(creating path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ConfigurationError("The file \(path) cannot be made: \(DataFolder.reason(errno)).")
        }
        self.init(descriptor, "The file \(path)")
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// Bytes; 0 where there is no telling.
    var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw ConfigurationError("\(name) cannot be written: \(DataFolder.reason(errno)).")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Puts what was written on the disk.
    func finish() throws {
        guard fsync(descriptor) == 0 else {
            throw ConfigurationError("\(name) cannot be written: \(DataFolder.reason(errno)).")
        }
    }

    /// The next line without its end; `nil` after the last.
    ///
    /// - Throws: ``ConfigurationError`` for a line longer than the limit.
    func nextLine(limit: Int) throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[start..<end])
                position += line.count + 1
                start = end + 1
                return line
            }
            searched = buffer.count
            guard searched - start <= limit else {
                throw ConfigurationError("\(name) has a line of more than \(limit) bytes.")
            }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                let line = Array(buffer[start...])
                position += line.count
                start = buffer.count
                return line
            }
            let before = start
            try fill()
            searched -= before - start
        }
    }

    private func fill() throws {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        let chunk = 1 << 18
        let count = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: chunk))
        var received: Int
        repeat {
            received = buffer.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: count), chunk)
            }
        } while received < 0 && errno == EINTR
        guard received >= 0 else {
            throw ConfigurationError("\(name) cannot be read: \(DataFolder.reason(errno)).")
        }
        buffer.removeLast(chunk - received)
        isAtEnd = received == 0
    }

    private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes, count)
        #else
            Darwin.write(descriptor, bytes, count)
        #endif
    }
}
