/// Any JSON value.
///
/// Equality and hashing follow JavaScript: numbers are doubles (`-0` equals `0`, NaN equals nothing),
/// strings are equal when their code points are, without Unicode normalisation (`"é"` written as one
/// code point differs from `e` and a combining accent, unlike with Swift's `String`), and the order of
/// an object's members does not count.
///
/// Comparing, hashing, writing and destroying a value recurse over its nesting. The parser bounds the
/// depth of what comes from outside (``JSONLimits/depth``); code that builds values must do so itself.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

// MARK: - Looking inside

extension JSONValue {
    /// The text, or `nil` when this is not a string.
    package var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The number, or `nil` when this is not a number.
    package var numberValue: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }

    /// The truth value, or `nil` when this is neither `true` nor `false`.
    package var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The elements, or `nil` when this is not an array.
    package var arrayValue: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The members, or `nil` when this is not an object.
    package var objectValue: JSONObject? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    /// Whether this is `null`.
    package var isNull: Bool {
        guard case .null = self else { return false }
        return true
    }

    /// Whether JavaScript takes the value for true: everything but `null`, `false`, 0, NaN and `""`.
    package var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let value): value
        case .number(let value): value != 0 && !value.isNaN
        case .string(let value): !value.isEmpty
        case .array, .object: true
        }
    }

    /// The member of that name, or `nil` when this is not an object or has no such member.
    ///
    /// Costs a linear search, see ``JSONObject``.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[key]
    }
}

// MARK: - Text

extension JSONValue {
    /// The value as JSON text in UTF-8, as `JSON.stringify` writes it.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }

    /// The value as JSON text, as `JSON.stringify` writes it.
    package func serializedString() -> String {
        String(decoding: serialized(), as: UTF8.self)
    }

    /// Reads one JSON document, as `JSON.parse` does, with white space allowed on both sides.
    ///
    /// The last of several members of one name wins and takes the first one's place. An escaped lone surrogate becomes
    /// U+FFFD. A number too large for a double becomes infinity (and is later written as `null`).
    ///
    /// - Throws: ``JSONError`` at the first byte that is not JSON in UTF-8 or that exceeds `limits`. A
    ///   byte order mark is refused, as RFC 8259 permits.
    package static func parse(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) -> JSONValue
    {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            try parse(UnsafeRawBufferPointer(buffer), limits: limits)
        }
    }

    /// Reads one JSON document from part of an array; error offsets count from the slice's start.
    ///
    /// - Throws: ``JSONError``, as for a whole array.
    package static func parse(
        _ bytes: ArraySlice<UInt8>,
        limits: JSONLimits = .standard
    ) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            try parse(UnsafeRawBufferPointer(buffer), limits: limits)
        }
    }

    /// Reads one JSON document from a string; error offsets and the size limit count UTF-8 bytes.
    ///
    /// - Throws: ``JSONError``, as for an array of bytes.
    package static func parse(_ text: String, limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), limits: limits)
    }

    /// Reads one JSON document from memory that stays valid and unchanged during the call.
    ///
    /// - Throws: ``JSONError``, as for an array of bytes.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer,
        limits: JSONLimits = .standard
    ) throws(JSONError) -> JSONValue {
        var parser = try JSONParser(bytes, limits: limits)
        return try parser.document()
    }
}

// MARK: - Equality

extension JSONValue: Hashable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameCodePoints(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let value): hasher.combine(value ? 2 as UInt8 : 1)
        case .number(let value):
            hasher.combine(3 as UInt8)
            hasher.combine(value)
        case .string(let value):
            hasher.combine(4 as UInt8)
            value.hashCodePoints(into: &hasher)
        case .array(let value):
            hasher.combine(5 as UInt8)
            hasher.combine(value)
        case .object(let value):
            hasher.combine(6 as UInt8)
            hasher.combine(value)
        }
    }
}

// MARK: - Literals

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) {
        self = .null
    }

    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    package init(integerLiteral value: Int) {
        self = .number(Double(value))
    }

    package init(floatLiteral value: Double) {
        self = .number(value)
    }

    package init(stringLiteral value: String) {
        self = .string(value)
    }

    package init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.lazy.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text.
    package var description: String {
        serializedString()
    }
}
