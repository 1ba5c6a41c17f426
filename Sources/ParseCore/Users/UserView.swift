package import JSON
import ParseWire

/// What a caller sees of a user.
package struct UserView: Sendable {
    /// In what relation the caller stands to the user.
    package enum Viewer: Sendable {
        case owner
        case other
        case master
        case maintenance
    }

    private let row: StoredRow
    private let schema: ClassSchema?
    private let viewer: Viewer
    private let hidden: Set<String>
    private let files: FileAddresses?

    /// - Parameters:
    ///   - row: The user.
    ///   - app: Whose user.
    ///   - viewer: Who looks.
    ///   - hidden: Fields the viewer does not see.
    ///   - context: Gives files their addresses; without it they have none.
    package init(
        of row: StoredRow,
        in app: App,
        viewer: Viewer,
        hiding hidden: Set<String> = [],
        context: RequestContext? = nil
    ) {
        self.row = row
        self.viewer = viewer
        self.hidden = hidden
        let schema = app.storage.schema[SystemClasses.user]
        self.schema = schema
        files = context.flatMap { FileAddresses($0, for: schema) }
    }

    /// As seen by the caller of this request, without the fields that are hidden from it.
    package init(of row: StoredRow, in context: RequestContext, hiding hidden: Set<String> = []) {
        let viewer = Self.viewer(of: row.objectID, context.principal)
        self.init(of: row, in: context.app, viewer: viewer, hiding: hidden, context: context)
    }

    package static func viewer(of userID: String, _ principal: Principal) -> Viewer {
        if principal.isMaintenance { return .maintenance }
        if principal.isMaster { return .master }
        return principal.userID == userID ? .owner : .other
    }

    /// The user without a session token.
    package var object: JSONObject {
        var object = ObjectView.object(
            of: row,
            schema,
            hiding: hidden.union(["password", "authData"]),
            files: files
        )
        if viewer != .other, !hidden.contains("authData"), let authData = row.fields["authData"]?.objectValue
        {
            let living = JSONObject(authData.filter { !$0.value.isNull })
            if !living.isEmpty { object.append("authData", .object(living)) }
        }
        if viewer == .maintenance, let hash = row.hidden[HiddenField.passwordHash]?.stringValue {
            object.append(HiddenField.passwordHash, .string(hash))
        }
        return object
    }

    /// The user with the token of a session.
    package func object(sessionToken: String) -> JSONObject {
        var object = object
        object["sessionToken"] = .string(sessionToken)
        return object
    }

    /// The user, encoded, up to the closing brace.
    package var encodedPrefix: [UInt8] {
        Array(JSONValue.object(object).serialized().dropLast())
    }
}
