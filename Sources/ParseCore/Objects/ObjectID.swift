import JSON
import ParseWire

/// The rules of ids that clients give.
enum ObjectID {
    /// The id that the body of a create asks for; `nil` for none.
    ///
    /// - Throws: ``ParseError``: 105 for `id`, for an id where the app does not allow them (`allowCustomObjectId`), and
    ///   for one that cannot be; 104 for one that is empty; 111 for one that is no text; 119 for a user's that looks
    ///   like a role.
    static func custom(
        _ body: JSONObject,
        of className: String,
        in app: App
    ) throws(ParseError) -> String? {
        let id = body["objectId"]
        if className == SystemClasses.user, let text = id?.stringValue, text.hasPrefix("role:") {
            throw ParseError(.operationForbidden, "Invalid object ID.")
        }
        if body["id"]?.isTruthy == true {
            throw ParseError(.invalidKeyName, "id is an invalid field name.")
        }
        guard let id else { return nil }
        guard app.options.allowCustomObjectId else {
            guard id.isTruthy else { return nil }
            throw invalid
        }
        guard id.isTruthy else {
            throw ParseError(.missingObjectID, "objectId must not be empty, null or undefined")
        }
        guard let text = id.stringValue else {
            let type = try FieldInput(id).type ?? .object
            throw .schemaMismatch(className, "objectId", expected: .string, got: type)
        }
        guard isUsable(text) else { throw invalid }
        return text
    }

    /// The body of an update may repeat the id, and may not change it.
    static func checkUnchanged(_ body: JSONObject, _ objectID: String) throws(ParseError) {
        if body["id"]?.isTruthy == true {
            throw ParseError(.invalidKeyName, "id is an invalid field name.")
        }
        guard let id = body["objectId"], id.isTruthy else { return }
        guard let text = id.stringValue, text.utf8.elementsEqual(objectID.utf8) else { throw invalid }
    }

    private static var invalid: ParseError {
        ParseError(.invalidKeyName, "objectId is an invalid field name.")
    }

    /// Ids stand in addresses, in access control lists and in comparisons: printable ASCII, so that two that look
    /// alike are alike, and nothing that means something there.
    private static func isUsable(_ id: String) -> Bool {
        id.utf8.count <= 255 && !["*", "me", ".", ".."].contains(id)
            && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    }
}
