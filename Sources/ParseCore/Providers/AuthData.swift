package import JSON
import ParseWire

/// The `authData` of a request, taken apart.
package struct AuthData: Sendable {
    /// What was sent for each provider, in alphabetical order.
    package let sent: [(provider: String, data: JSONObject)]
    /// Providers to be taken off the user.
    package let removed: [String]

    package var isEmpty: Bool {
        sent.isEmpty && removed.isEmpty
    }

    package var providers: [String] {
        sent.map(\.provider)
    }

    /// The accounts that were named; a provider's data may come without an id.
    package var identities: [ProviderIdentity] {
        sent.compactMap { entry in
            entry.data["id"]?.stringValue.map { ProviderIdentity(provider: entry.provider, id: $0) }
        }
    }

    /// Reads the field.
    ///
    /// - Throws: ``ParseError``: 252 for `null`, 111 for another value than an object or for a provider whose
    ///   value is neither object nor `null`, 162 for an id that is no string.
    package init(_ json: JSONValue) throws(ParseError) {
        if json.isNull { throw .unsupportedProvider }
        guard let object = json.objectValue else {
            throw ParseError(
                .incorrectType,
                "schema mismatch for _User.authData; expected Object but got another type"
            )
        }
        var sent: [(String, JSONObject)] = []
        var removed: [String] = []
        for member in object.members.sorted(by: { $0.key < $1.key }) {
            if member.value.isNull {
                removed.append(member.key)
                continue
            }
            guard let data = member.value.objectValue else {
                throw ParseError(.incorrectType, "authData.\(member.key) must be an object or null")
            }
            if let id = data["id"], id.stringValue == nil, !id.isNull {
                throw ParseError(.invalidValue, "Invalid authData id for provider '\(member.key)'.")
            }
            sent.append((member.key, data))
        }
        self.sent = sent
        self.removed = removed
    }

    private init(sent: [(provider: String, data: JSONObject)], removed: [String]) {
        self.sent = sent
        self.removed = removed
    }

    /// What of it a sign-up acts on: only data that names an account.
    ///
    /// `nil` when the field is absent or holds nothing of that kind, so that name and password are needed.
    ///
    /// - Throws: As ``init(_:)``, but for values that a sign-up passes over.
    package static func ofSignUp(_ json: JSONValue?, in app: App) throws(ParseError) -> AuthData? {
        guard let object = json?.objectValue else { return nil }
        var counting = JSONObject()
        for member in object {
            guard let data = member.value.objectValue, !data.isEmpty else { continue }
            if app.providers[member.key]?.namesAccount(data)
                ?? (member.key != AnonymousProvider.name || data["id"] != "")
            {
                counting.append(member.key, member.value)
            }
        }
        return counting.isEmpty ? nil : try AuthData(.object(counting))
    }

    /// Only what differs from what is stored; an object sent back unchanged needs no validation.
    package func changes(from stored: JSONObject) -> AuthData {
        AuthData(sent: sent.filter { stored[$0.provider] != .object($0.data) }, removed: removed)
    }

    /// Asks each provider, in alphabetical order, and stops at the first refusal.
    package func validated(in app: App) async throws -> ValidatedAuthData {
        var result = ValidatedAuthData()
        for entry in sent {
            guard let provider = app.providers[entry.provider] else { throw ParseError.unsupportedProvider }
            let verdict = try await provider.validate(entry.data)
            result.stored.append((entry.provider, verdict.stored ?? entry.data))
            if let response = verdict.response { result.response[entry.provider] = .object(response) }
        }
        return result
    }
}

/// What providers vouched for.
package struct ValidatedAuthData: Sendable {
    package var stored: [(provider: String, data: JSONObject)] = []
    package var response = JSONObject()

    /// The change of the user's `authData` field.
    package func fieldChange(removing removed: [String]) -> FieldChange? {
        var members: [String: JSONValue?] = [:]
        for entry in stored { members[entry.provider] = .some(.object(entry.data)) }
        for provider in removed { members[provider] = .some(nil) }
        return members.isEmpty ? nil : .merge(members)
    }

    /// Stores everything with the user.
    package func store(with userID: String, in transaction: inout Transaction) {
        guard let change = fieldChange(removing: []) else { return }
        transaction.add(
            .update(
                RowUpdate(
                    className: SystemClasses.user,
                    predicate: .id(userID),
                    changes: [("authData", change)]
                )
            )
        )
        transaction.add(steps(for: userID, removing: []))
    }

    /// The change of who owns which account.
    package func steps(for userID: String, removing removed: [String]) -> [WriteStep] {
        var steps: [WriteStep] = []
        if !removed.isEmpty { steps.append(.unlink(userID: userID, providers: removed)) }
        for entry in stored {
            guard let id = entry.data["id"]?.stringValue else { continue }
            steps.append(.unlink(userID: userID, providers: [entry.provider]))
            steps.append(.link(ProviderIdentity(provider: entry.provider, id: id), userID: userID))
        }
        return steps
    }
}
