import JSON
import ParseWire

extension WhereDecoder {
    /// The value of an equality that is written without an operator.
    ///
    /// - Throws: ``ParseError`` 107 for an array or a plain object: clients once meant other things by these.
    func plainLiteral(_ field: String, _ json: JSONValue) throws(ParseError) -> FieldValue {
        switch json {
        case .array: throw unusable(json)
        case .object(let object) where object["__type"] == nil && object["__op"] == nil: throw unusable(json)
        default: return try literal(field, json)
        }
    }

    private func unusable(_ json: JSONValue) -> ParseError {
        ParseError(.invalidJSON, "You cannot use \(json.javaScriptText) as a query parameter.")
    }

    /// A value to compare with; text stands for an instant where the field is a date, and for the id of an
    /// object where it is a pointer.
    func literal(_ field: String, _ json: JSONValue) throws(ParseError) -> FieldValue {
        guard case .set(let value) = try FieldInput(json).change else {
            throw ParseError(.invalidJSON, "bad value for \(field)")
        }
        guard case .string(let text) = value else { return value }
        switch schema?.type(of: field) {
        case .date: return Timestamp(iso8601: text).map(FieldValue.date) ?? value
        case .pointer(let target): return .pointer(className: target, objectID: text)
        default: return value
        }
    }

    /// A value that others are less or greater than.
    func bound(_ field: String, _ json: JSONValue) throws(ParseError) -> FieldValue {
        switch json {
        case .array: throw badAtom(json)
        case .object(let object) where object["__type"] == nil: throw badAtom(json)
        default: return try literal(field, json)
        }
    }

    func badAtom(_ json: JSONValue) -> ParseError {
        ParseError(.invalidJSON, "bad atom: \(json.serializedString().shortened)")
    }

    /// The values of a list; a list inside it stands for its own values.
    func list(_ field: String, _ json: JSONValue, _ name: String) throws(ParseError) -> [FieldValue] {
        guard let elements = json.arrayValue else { throw ParseError(.invalidJSON, "bad \(name) value") }
        return try literals(field, elements.flatMap { $0.arrayValue ?? [$0] })
    }

    func literals(_ field: String, _ elements: [JSONValue]) throws(ParseError) -> [FieldValue] {
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try literal(field, element)) }
        return values
    }
}

extension JSONValue {
    /// What JavaScript's `String(value)` gives, as far as an error text needs it.
    var javaScriptText: String {
        switch self {
        case .string(let text): text.shortened
        case .array(let elements):
            elements.prefix(100).map { $0.isNull ? "" : $0.javaScriptText }.joined(separator: ",").shortened
        case .object(let object):
            object["$regex"]?.stringValue.map { "/\($0)/".shortened } ?? "[object Object]"
        case .null, .bool, .number: serializedString()
        }
    }
}

extension String {
    /// At most so much that an error text stays readable.
    fileprivate var shortened: String {
        count > 500 ? prefix(500) + "…" : self
    }
}
