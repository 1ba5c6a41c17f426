import ParseWire
import HTTP
import JSON
import ParseCore

extension Endpoint {
    static let signUp = Endpoint { request in
        RESTReply(try await SignUp(body: request.body).run(in: request.context))
    }

    static let currentUser = Endpoint(.isPlainRead) { request in
        RESTReply(body: .encoded(try await CurrentUser().run(in: request.context).encoded))
    }

    static let getUser = Endpoint(.isPlainRead) { request in
        let selection = try GetOptions.selection(request.readParameters)
        return RESTReply(
            try await GetUser(userID: request.objectID, selection: selection).run(in: request.context)
        )
    }

    static let updateUser = Endpoint { request in
        RESTReply(try await UpdateUser(userID: request.objectID, body: request.body).run(in: request.context))
    }

    static let deleteUser = Endpoint { request in
        RESTReply(try await DeleteUser(userID: request.objectID).run(in: request.context))
    }

    static let logIn = Endpoint(.ignoresSession) { request in
        let command = LogIn(credentials: request.credentials, authData: request.body["authData"])
        return RESTReply(try await command.run(in: request.context))
    }

    static let logOut = Endpoint { request in
        RESTReply(try await LogOut().run(in: request.context))
    }

    static let logInAs = Endpoint { request in
        let sent = request.body["userId"]
        let userID = sent?.isTruthy == true ? sent : request.queryText("userId")
        return RESTReply(try await LogInAs(userID: userID).run(in: request.context))
    }

    static let verifyPassword = Endpoint { request in
        RESTReply(try await VerifyPassword(credentials: request.credentials).run(in: request.context))
    }

    static let upgradeSession = Endpoint(.readsLegacyToken) { request in
        RESTReply(try await UpgradeSession().run(in: request.context))
    }

    /// Without a way to send mail there is none to reset a password or confirm an address by.
    static let mailFlow = Endpoint { _ in
        throw ParseError(
            .internalServerError,
            "An appName, publicServerURL, and emailAdapter are required for password reset and email "
                + "verification functionality."
        )
    }
}

extension RESTRequest {
    var objectID: String {
        parameters["objectId"] ?? ""
    }

    /// From the body, or all of them from the query of the address when only that has a name or an address.
    var credentials: Credentials {
        let names = ["username", "email"]
        let usesQuery = names.contains { body[$0]?.isTruthy != true && queryText($0)?.isTruthy == true }
        guard usesQuery else {
            return Credentials(username: body["username"], email: body["email"], password: body["password"])
        }
        return Credentials(
            username: queryText("username"),
            email: queryText("email"),
            password: queryText("password")
        )
    }
}
