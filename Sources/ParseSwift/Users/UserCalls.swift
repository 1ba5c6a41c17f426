import Foundation

/// The requests about users, and what their answers change here.
enum UserCalls {
    // MARK: Current user

    static func logIn() throws -> LogIn {
        guard let client = ParseClient.current else { throw ParseError.notInitialized }
        switch client.session.phase() {
        case .loggedIn(let logIn):
            return logIn
        case .loggedOut:
            throw ParseError(code: .userCannotBeAlteredWithoutSession, message: "Nobody is logged in.")
        case .unknown(let error):
            throw error ?? ParseError(code: .otherCause, message: "The stored user was not read yet.")
        }
    }

    static func current<User: ParseUser>(_ type: User.Type) throws -> User {
        try ParseCoding.decode(type, from: logIn().user)
    }

    /// Runs `body` where the store may be waited for.
    static func onStateQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await ParseClient.call { _ in .answer(try body()) }.value()
    }

    // MARK: Log-in

    static func login<User: ParseUser>(
        _ type: User.Type,
        username: String?,
        email: String?,
        password: String,
        authData: [String: [String: String]?]? = nil,
        options: API.Options
    ) -> Call<User> {
        var body: [String: JSONTree] = ["password": .string(password)]
        body["username"] = username.map(JSONTree.string)
        body["email"] = email.map(JSONTree.string)
        if let authData {
            body["authData"] = tree(authData)
        }
        // The answer is the whole user, so nothing of the request is taken into it.
        return enter(
            WireRequest(
                method: .post,
                path: ["login"],
                body: .object(body),
                session: .none,
                options: options
            ),
            known: [:]
        )
    }

    static func loginAs<User: ParseUser>(
        _ type: User.Type,
        objectId: String,
        options: API.Options
    ) -> Call<User> {
        enter(
            WireRequest(
                method: .post,
                path: ["loginAs"],
                body: .object(["userId": .string(objectId)]),
                session: .none,
                options: options.union([.useMasterKey])
            ),
            known: [:]
        )
    }

    static func become<User: ParseUser>(
        _ type: User.Type,
        sessionToken: String,
        options: API.Options
    ) -> Call<User> {
        enter(
            WireRequest(
                method: .get,
                path: ["users", "me"],
                session: .token(sessionToken),
                options: options
            ),
            known: [:],
            token: sessionToken
        )
    }

    /// A request whose answer is a user who is then the current one.
    ///
    /// `known` are fields of the user that the answer need not repeat, `token` is the session token when
    /// the answer has none.
    private static func enter<User: ParseUser>(
        _ request: WireRequest,
        known: [String: JSONTree],
        token: String? = nil
    ) -> Call<User> {
        ParseClient.call { client in
            let ticket = client.session.ticket()
            return .exchange(
                Exchange(request: request) { reply in
                    try adopt(reply, client, ticket, known: known, token: token)
                }
            )
        }
    }

    private static func adopt<User: ParseUser>(
        _ reply: Reply,
        _ client: ParseClient,
        _ ticket: UInt64,
        known: [String: JSONTree],
        token: String?
    ) throws -> User {
        var members = Changes.apply([:], reply.tree.object ?? [:], to: .object(known)).object ?? [:]
        members["password"] = nil
        members["originalData"] = nil
        members["updatedAt"] = members["updatedAt"] ?? members["createdAt"]
        guard let objectId = members["objectId"]?.string, !objectId.isEmpty else {
            throw ParseError(code: .otherCause, message: "The server's answer has no objectId of a user.")
        }
        let user = try ParseCoding.decode(User.self, from: .object(members))
        if let token = reply.sessionToken ?? token {
            do {
                try client.session.logIn(LogIn(token: token, user: .object(members)), ticket: ticket)
            } catch {
                if token != client.session.logIn?.token, reply.sessionToken != nil {
                    client.revoke(token: token)
                }
                throw error
            }
        }
        client.snapshots.record(user)
        return user
    }

    // MARK: Sign-up

    static func signup<User: ParseUser>(_ user: User, options: API.Options) -> Call<User> {
        ParseClient.call { client in
            let current = client.session.logIn
            let anonymous = current.flatMap { $0.anonymousId == nil ? nil : $0 }
            // Only an anonymous user is turned into the new one. Anybody else keeps the account.
            if let anonymous, user.objectId == nil || user.objectId == anonymous.objectId {
                return .exchange(try upgrade(user, anonymous, client, options))
            }
            let body = try ParseEncoder().members(of: user, skipping: .object)
            let ticket = client.session.ticket()
            let request = WireRequest(
                method: .post,
                path: ["users"],
                body: .object(body),
                session: .none,
                options: options
            )
            var known = try TreeEncoder(children: .whole).encode(user).object ?? [:]
            for key in ["objectId", "createdAt", "updatedAt"] { known[key] = nil }
            let fields = known
            return .exchange(
                Exchange(request: request) { reply in
                    try adopt(reply, client, ticket, known: fields, token: nil)
                }
            )
        }
    }

    private static func upgrade<User: ParseUser>(
        _ user: User,
        _ anonymous: LogIn,
        _ client: ParseClient,
        _ options: API.Options
    ) throws -> Exchange<User> {
        let objectId = anonymous.objectId ?? ""
        var body = try ParseEncoder().members(of: user, skipping: .object)
        body["authData"] = nil
        body["authData"] = ObjectCalls.withoutAnonymous(
            user.authData.map { tree($0.filter { $0.key != "anonymous" }) }
        )
        let sent = body
        let request = WireRequest(
            method: .put,
            path: ["users", objectId],
            body: .object(sent),
            session: .token(anonymous.token),
            options: options
        )
        let ticket = client.session.ticket()
        var exchange = Exchange<User>(request: request) { reply in
            let known = Changes.apply(sent, [:], to: anonymous.user).object ?? [:]
            return try adopt(reply, client, ticket, known: known, token: anonymous.token)
        }
        exchange.tokenChange = client.session.expectNewToken(within: client.transport.limits.total)
        return exchange
    }

    // MARK: Log-out

    static func logout(options: API.Options) -> Call<Void> {
        ParseClient.call(always: true) { client in
            // First here, so that it holds whatever becomes of the request.
            let old = client.session.logOut(ticket: client.session.ticket())
            try? client.store.remove(.defaultACL)
            var token = old?.token
            for case .sessionToken(let other) in options { token = other }
            guard let token else { return .answer(()) }
            return .exchange(
                Exchange(
                    request: WireRequest(
                        method: .post,
                        path: ["logout"],
                        session: .token(token),
                        options: options
                    ),
                    read: { _ in },
                    recover: { error in
                        // The session was over already: that is what was asked for.
                        guard error.code == .invalidSessionToken else { throw error }
                    },
                    endsInvalidSession: false
                )
            )
        }
    }

    // MARK: Mail and password

    static func passwordReset(email: String, options: API.Options) -> Call<Void> {
        mail("requestPasswordReset", email, options)
    }

    static func verificationEmail(email: String, options: API.Options) -> Call<Void> {
        mail("verificationEmailRequest", email, options)
    }

    private static func mail(_ path: String, _ email: String, _ options: API.Options) -> Call<Void> {
        ParseClient.call { _ in
            .exchange(
                Exchange(
                    request: WireRequest(
                        method: .post,
                        path: [path],
                        body: .object(["email": .string(email)]),
                        session: .none,
                        options: options
                    ),
                    read: { _ in }
                )
            )
        }
    }

    static func verifyPassword<User: ParseUser>(
        _ type: User.Type,
        password: String,
        usingPost: Bool,
        options: API.Options
    ) -> Call<User> {
        ParseClient.call { client in
            let logIn = try logIn()
            let generation = client.session.generation
            guard let objectId = logIn.objectId, let username = logIn.user["username"] else {
                throw ParseError(code: .usernameMissing, message: "The current user has no user name.")
            }
            var body: [String: JSONTree] = ["username": username, "password": .string(password)]
            if !usingPost {
                // A GET by way of POST: in a URL the password would end up in logs.
                body["_method"] = .string("GET")
            }
            return .exchange(
                Exchange(
                    request: WireRequest(
                        method: .post,
                        path: ["verifyPassword"],
                        body: .object(body),
                        options: options
                    )
                ) { reply in
                    let user = try ParseCoding.decode(
                        User.self,
                        from: ObjectCalls.fields(of: reply, id: objectId)
                    )
                    if user.objectId == objectId {
                        ObjectCalls.noteUser(client, objectId, generation, reply, sent: nil)
                    }
                    client.snapshots.record(user)
                    return user
                }
            )
        }
    }

    // MARK: Providers

    static func login<User: ParseUser>(
        _ type: User.Type,
        provider: String,
        authData: [String: String],
        options: API.Options
    ) -> Call<User> {
        ParseClient.call { client in
            let current = client.session.logIn
            if current != nil, provider != ParseAnonymous<User>().__type {
                return .exchange(
                    try changeProviders([provider: authData], User.self, client, options)
                )
            }
            let data = tree([provider: authData])
            let ticket = client.session.ticket()
            let request = WireRequest(
                method: .post,
                path: ["users"],
                body: .object(["authData": data]),
                session: .none,
                options: options
            )
            return .exchange(
                Exchange(request: request) { reply in
                    try adopt(reply, client, ticket, known: ["authData": data], token: nil)
                }
            )
        }
    }

    static func link<User: ParseUser>(
        _ type: User.Type,
        provider: String,
        authData: [String: String]?,
        options: API.Options
    ) -> Call<User> {
        ParseClient.call { client in
            .exchange(try changeProviders([provider: authData], User.self, client, options))
        }
    }

    private static func changeProviders<User: ParseUser>(
        _ providers: [String: [String: String]?],
        _ type: User.Type,
        _ client: ParseClient,
        _ options: API.Options
    ) throws -> Exchange<User> {
        let logIn = try logIn()
        let objectId = logIn.objectId ?? ""
        var data = tree(providers)
        if logIn.anonymousId != nil, providers["anonymous"] == nil,
            providers.contains(where: { $0.value != nil })
        {
            data = ObjectCalls.withoutAnonymous(data)
        }
        let sent: [String: JSONTree] = ["authData": data]
        let ticket = client.session.ticket()
        let request = WireRequest(
            method: .put,
            path: ["users", objectId],
            body: .object(sent),
            session: .token(logIn.token),
            options: options
        )
        return Exchange(request: request) { reply in
            let known = Changes.apply(sent, [:], to: logIn.user).object ?? [:]
            return try adopt(reply, client, ticket, known: known, token: logIn.token)
        }
    }

    private static func tree(_ authData: [String: [String: String]?]) -> JSONTree {
        .object(
            authData.mapValues { provider in
                provider.map { .object($0.mapValues(JSONTree.string)) } ?? .null
            }
        )
    }
}

extension UserCalls {
    static func newUser<User: ParseUser>(_ type: User.Type, _ username: String, _ password: String) -> User {
        var user = User()
        user.username = username
        user.password = password
        return user
    }
}
