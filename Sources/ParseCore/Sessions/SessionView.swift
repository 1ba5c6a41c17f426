package import JSON
import Cryptography
import ParseWire

/// What a caller sees of a session.
///
/// Only the SHA-256 of a token is stored, so the token is shown to the one who sent it; of other sessions, to
/// the master key too, its last four characters tell them apart.
package enum SessionView {
    package static func object(_ row: StoredRow, in context: RequestContext) -> JSONObject {
        let schema = context.app.storage.schema[SystemClasses.session]
        var object = ObjectView.object(
            of: row,
            schema,
            hiding: ["sessionToken"],
            files: FileAddresses(context, for: schema)
        )
        if let token = context.sessionToken, isOwn(row, token) {
            object.append("sessionToken", .string(token))
        } else if let tail = row.hidden[HiddenField.tokenTail]?.stringValue {
            object.append("sessionToken", .string(SessionToken.shortened(tail: tail)))
        }
        return object
    }

    private static func isOwn(_ row: StoredRow, _ token: String) -> Bool {
        row.hidden[HiddenField.tokenHash] == .binary(SHA256.hash(token).bytes)
    }
}
