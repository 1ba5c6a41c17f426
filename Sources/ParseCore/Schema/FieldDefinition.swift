package import JSON
import ParseWire

/// The definition of one field in a request to the schema API.
package struct FieldDefinition: Hashable, Sendable {
    package let type: FieldType
    package let options: FieldOptions

    /// Reads `{"type":…,"targetClass":…,"required":…,"defaultValue":…}`.
    ///
    /// - Parameters:
    ///   - json: The definition.
    ///   - field: The name of the field.
    ///   - className: The class it is of, for what is to be said about it.
    /// - Throws: ``ParseError``: 107 for what is no definition, 111 for a type that is unknown, a default value of
    ///   another type, and options that a relation cannot have, 135 for a pointer or relation without a class, 103
    ///   for one whose class cannot be.
    package init(_ json: JSONValue, field: String, of className: String) throws(ParseError) {
        guard let object = json.objectValue else { throw .malformedSchema }
        type = try Self.type(object)
        options = try Self.options(object, type, field, className)
    }

    private static func type(_ object: JSONObject) throws(ParseError) -> FieldType {
        guard let word = object["type"]?.stringValue else { throw .malformedSchema }
        guard word == "Pointer" || word == "Relation" else {
            guard let type = FieldType(wireName: word, targetClass: nil), type != .acl else {
                throw ParseError(.incorrectType, "invalid field type: \(word)")
            }
            return type
        }
        guard let target = object["targetClass"], target.isTruthy else {
            throw ParseError(.missingRequiredField, "type \(word) needs a class name")
        }
        guard let name = target.stringValue else { throw .malformedSchema }
        guard ClassName.isNameable(name) else { throw .invalidClassName(name) }
        return word == "Pointer" ? .pointer(name) : .relation(name)
    }

    private static func options(
        _ object: JSONObject,
        _ type: FieldType,
        _ field: String,
        _ className: String
    ) throws(ParseError) -> FieldOptions {
        let required = object["required"] ?? .null
        guard required.isNull || required.boolValue != nil else { throw .malformedSchema }
        let isRequired = required.boolValue == true
        let sent = object["defaultValue"] ?? .null
        if case .relation = type {
            if !sent.isNull { throw notApplicable("default value", type) }
            if isRequired { throw notApplicable("required", type) }
        }
        guard !sent.isNull else { return FieldOptions(isRequired: isRequired) }
        let input = try FieldInput(sent)
        guard let got = input.type else { throw .malformedSchema }
        guard got == type, case .set(let value) = input.change else {
            throw ParseError(
                .incorrectType,
                "schema mismatch for \(className).\(field) default value; expected \(type.description) "
                    + "but got \(got.description)"
            )
        }
        try ObjectSize.check([field: value])
        return FieldOptions(isRequired: isRequired, defaultValue: value.json)
    }

    private static func notApplicable(_ option: String, _ type: FieldType) -> ParseError {
        ParseError(.incorrectType, "The '\(option)' option is not applicable for \(type.description)")
    }
}

extension ParseError {
    /// What is said of a definition that has not the shape of one.
    static let malformedSchema = ParseError(.invalidJSON, "invalid JSON")

    /// The blank at the end is parse-server's.
    static func invalidClassName(_ name: String) -> ParseError {
        ParseError(
            .invalidClassName,
            "Invalid classname: \(name), classnames can only have alphanumeric characters and _, and must "
                + "start with an alpha character "
        )
    }

    static func unknownClass(_ name: String) -> ParseError {
        ParseError(.invalidClassName, "Class \(name) does not exist.")
    }
}
