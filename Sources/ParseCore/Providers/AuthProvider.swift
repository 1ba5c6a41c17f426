package import JSON

/// A way to sign in other than by password (Parse REST guide, "Linking Users").
package protocol AuthProvider: Sendable {
    /// The key under `authData`.
    var name: String { get }

    /// Whether what was sent names an account of the provider at all; if not, a sign-up needs a user name and
    /// password as if it had not been sent.
    func namesAccount(_ data: JSONObject) -> Bool

    /// Checks what the client sent with the provider.
    ///
    /// - Throws: ``ParseError`` when the provider does not vouch for it.
    func validate(_ data: JSONObject) async throws -> ProviderVerdict
}

extension AuthProvider {
    package func namesAccount(_ data: JSONObject) -> Bool {
        !data.isEmpty
    }
}

/// What a provider says of data it accepts.
package struct ProviderVerdict: Sendable {
    /// Goes into `authDataResponse` of the reply.
    package var response: JSONObject?
    /// What is stored in place of what was sent.
    package var stored: JSONObject?

    package init(response: JSONObject? = nil, stored: JSONObject? = nil) {
        self.response = response
        self.stored = stored
    }
}

/// Users without name and password: whoever knows the id is the user.
package struct AnonymousProvider: AuthProvider {
    package static let name = "anonymous"

    package var name: String {
        Self.name
    }

    package init() {}

    /// An empty id would be everybody's, and none at all is nobody's.
    package func namesAccount(_ data: JSONObject) -> Bool {
        guard let id = data["id"], !id.isNull else { return false }
        return id != ""
    }

    package func validate(_ data: JSONObject) async throws -> ProviderVerdict {
        guard let id = data["id"]?.stringValue, !id.isEmpty else { throw ParseError.unsupportedProvider }
        return ProviderVerdict()
    }
}
