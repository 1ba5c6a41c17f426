package import JSON
import Cryptography
import ParseWire

/// The user of the session (Parse REST guide, "Validating Session Tokens").
package struct CurrentUser: Sendable {
    package init() {}

    package nonisolated(nonsending) func run(in context: RequestContext) async throws -> CurrentUserReply {
        guard let token = context.sessionToken else { throw ParseError.invalidSessionToken }
        if let session = context.principal.session {
            guard session.user.isReadable(by: context.principal.access) else {
                throw ParseError.invalidSessionToken
            }
            // The address of a file depends on how the request came, so such a user is encoded anew.
            let holdsFile = session.user.fields.values.contains { if case .file = $0 { true } else { false } }
            let encoded =
                holdsFile
                ? UserView(of: session.user, in: context).encodedPrefix : session.encodedUser
            return CurrentUserReply(encodedUser: encoded, token: token)
        }
        // A master key stands in for the session, also for one that has run out.
        guard context.principal.isUnrestricted, SessionToken.isWellFormed(token) else {
            throw ParseError.invalidSessionToken
        }
        let app = context.app
        let found = try await app.reading { () throws(StorageError) in
            try await app.storage.session(tokenHash: SHA256.hash(token))
        }
        guard let user = found?.user else { throw ParseError.invalidSessionToken }
        return CurrentUserReply(encodedUser: UserView(of: user, in: context).encodedPrefix, token: token)
    }
}

/// The reply to ``CurrentUser``, encoded already.
package struct CurrentUserReply: Sendable {
    private let encodedUser: [UInt8]
    private let token: String

    fileprivate init(encodedUser: [UInt8], token: String) {
        self.encodedUser = encodedUser
        self.token = token
    }

    package var encoded: [UInt8] {
        var writer = JSONWriter(capacity: encodedUser.count + token.utf8.count + 24)
        writer.writeRaw(encodedUser)
        writer.writeRaw(",\"sessionToken\":")
        writer.writeString(token)
        writer.writeRaw("}")
        return writer.bytes
    }
}

/// One user by its id.
package struct GetUser: Sendable {
    package let userID: String
    package let selection: Selection

    package init(userID: String, selection: Selection) {
        self.userID = userID
        self.selection = selection
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        let command = GetObject(className: SystemClasses.user, objectID: userID, selection: selection)
        var object = try await command.run(in: context)
        if context.principal.userID == userID, let token = context.sessionToken {
            object["sessionToken"] = .string(token)
        }
        return object
    }
}
