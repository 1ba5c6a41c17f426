import Locking
import Martlet

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is read line by line, or written, a piece at a time.
final class LineFile: Sendable {
    fileprivate struct Reading {
        var buffer: [UInt8] = []
        var start = 0
        var isAtEnd = false
        var position = 0
    }

    private let descriptor: Int32
    private let name: String
    private let reading = Locked(Reading())

    static var standardInput: LineFile { LineFile(STDIN_FILENO, "Standard input") }
    static var standardOutput: LineFile { LineFile(STDOUT_FILENO, "Standard output") }

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

    /// A new file that only its owner can read.
    ///
    /// - Throws: ``ConfigurationError`` when it cannot be made, or is there.
    convenience init(creating path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
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

    /// How many bytes of lines have been taken.
    var position: Int {
        reading.withLock { $0.position }
    }

    /// Whether this is the file that has that path now.
    func isAt(_ path: String) -> Bool {
        var (own, other) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &other) == 0 && own.st_ino == other.st_ino
            && own.st_dev == other.st_dev
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
        try reading.withLock { try nextLine(limit: limit, &$0) }
    }

    private func nextLine(limit: Int, _ reading: inout Reading) throws -> [UInt8]? {
        var searched = reading.start
        while true {
            if let end = reading.buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return reading.take(upTo: end, 1)
            }
            searched = reading.buffer.count
            guard searched - reading.start <= limit else {
                throw ConfigurationError("\(name) has a line of more than \(limit) bytes.")
            }
            if reading.isAtEnd {
                return reading.start < searched ? reading.take(upTo: searched, 0) : nil
            }
            searched -= reading.start
            try fill(&reading)
        }
    }

    private func fill(_ reading: inout Reading) throws {
        if reading.start > 0 {
            reading.buffer.removeFirst(reading.start)
            reading.start = 0
        }
        let chunk = 1 << 18
        let count = reading.buffer.count
        reading.buffer.append(contentsOf: repeatElement(0, count: chunk))
        var received: Int
        repeat {
            received = reading.buffer.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: count), chunk)
            }
        } while received < 0 && errno == EINTR
        guard received >= 0 else {
            throw ConfigurationError("\(name) cannot be read: \(DataFolder.reason(errno)).")
        }
        reading.buffer.removeLast(chunk - received)
        reading.isAtEnd = received == 0
    }

    private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes, count)
        #else
            Darwin.write(descriptor, bytes, count)
        #endif
    }
}

extension LineFile.Reading {
    mutating func take(upTo end: Int, _ endBytes: Int) -> [UInt8] {
        let line = Array(buffer[start..<end])
        start = end + endBytes
        position += line.count + endBytes
        return line
    }
}
