/// Header fields in order, names compared without regard to case.
///
/// All fields share one byte array, so those of a received request cost two allocations together, and a string
/// is made only of a value that somebody asks for. Look-up is linear: requests have few fields.
package struct HTTPHeaders: Sendable {
    struct Field: Sendable {
        var nameStart: UInt32
        var nameEnd: UInt32
        var valueStart: UInt32
        var valueEnd: UInt32

        var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
        var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    }

    private(set) var bytes: [UInt8]
    private(set) var fields: [Field]

    package init() {
        bytes = []
        fields = []
    }

    package init(_ fields: [(String, String)]) {
        self.init()
        for (name, value) in fields { add(name, value) }
    }

    /// Fields that lie in `bytes` already.
    init(bytes: [UInt8], fields: [Field]) {
        self.bytes = bytes
        self.fields = fields
    }

    /// How many fields there are; a name that comes twice counts twice.
    package var count: Int { fields.count }

    /// The value of the first field of that name, without surrounding blanks.
    package func first(_ name: String) -> String? {
        index(of: name).map { string(fields[$0].value) }
    }

    /// The values of all fields of that name, in order.
    package func all(_ name: String) -> [String] {
        fields.filter { Self.matches($0, name, bytes) }.map { string($0.value) }
    }

    package func contains(_ name: String) -> Bool { index(of: name) != nil }

    /// Gives `body` the bytes of the first field of that name, without making a string.
    ///
    /// `nil` when there is no such field.
    package func withFirst<R>(_ name: StaticString, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows
        -> R?
    {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return try bytes.withUnsafeBytes { bytes in
            for field in fields
            where ASCII.equalIgnoringCase(UnsafeRawBufferPointer(rebasing: bytes[field.name]), wanted) {
                return try body(UnsafeRawBufferPointer(rebasing: bytes[field.value]))
            }
            return nil
        }
    }

    /// Gives `body` the bytes of the name and of the value of each field, in order.
    package func forEachField(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for field in fields {
                body(
                    UnsafeRawBufferPointer(rebasing: bytes[field.name]),
                    UnsafeRawBufferPointer(rebasing: bytes[field.value])
                )
            }
        }
    }

    /// Appends a field.
    ///
    /// Line ends and NUL in either part become spaces, so that nothing a client sent can add a line to a
    /// response.
    package mutating func add(_ name: String, _ value: String) {
        let nameStart = bytes.count
        append(name)
        let nameEnd = bytes.count
        append(value)
        fields.append(
            Field(
                nameStart: UInt32(nameStart),
                nameEnd: UInt32(nameEnd),
                valueStart: UInt32(nameEnd),
                valueEnd: UInt32(bytes.count)
            )
        )
    }

    /// Replaces all fields of that name by one, at the end.
    package mutating func set(_ name: String, _ value: String) {
        remove(name)
        add(name, value)
    }

    package mutating func remove(_ name: String) {
        fields.removeAll { [bytes] in Self.matches($0, name, bytes) }
    }

    private mutating func append(_ text: String) {
        for byte in text.utf8 { bytes.append(byte == 13 || byte == 10 || byte == 0 ? 32 : byte) }
    }

    private func index(of name: String) -> Int? {
        let length = name.utf8.count
        return bytes.withUnsafeBytes { bytes in
            fields.firstIndex { field in
                field.name.count == length && Self.equal(bytes[field.name], name.utf8)
            }
        }
    }

    private static func matches(_ field: Field, _ name: String, _ bytes: [UInt8]) -> Bool {
        field.name.count == name.utf8.count && bytes.withUnsafeBytes { equal($0[field.name], name.utf8) }
    }

    private static func equal(_ a: Slice<UnsafeRawBufferPointer>, _ b: String.UTF8View) -> Bool {
        zip(a, b).allSatisfy { ASCII.lowercase($0) == ASCII.lowercase($1) }
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension HTTPHeaders: Sequence {
    package typealias Element = (name: String, value: String)

    package func makeIterator() -> AnyIterator<Element> {
        var position = 0
        return AnyIterator {
            guard position < fields.count else { return nil }
            defer { position += 1 }
            return (string(fields[position].name), string(fields[position].value))
        }
    }
}

extension HTTPHeaders: Equatable {
    /// The same fields in the same order, names compared without regard to case.
    package static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool {
        a.count == b.count
            && zip(a, b).allSatisfy { ASCII.equalIgnoringCase($0.name, $1.name) && $0.value == $1.value }
    }
}
