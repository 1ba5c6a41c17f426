package import HTTP

extension Router where Endpoint == ParseREST.Endpoint {
    /// Every route of the REST API, below the mount point (Parse REST guide, "Quick Reference").
    package static func rest() -> Router<ParseREST.Endpoint> {
        var router = Router()
        let routes: [(HTTPMethod, String, ParseREST.Endpoint)] = [
            (.post, "/users", .signUp),
            (.get, "/users", .findUsers),
            (.get, "/users/me", .currentUser),
            (.get, "/users/:objectId", .getUser),
            (.put, "/users/:objectId", .updateUser),
            (.delete, "/users/:objectId", .deleteUser),
            (.post, "/classes/_User", .signUp),
            (.get, "/classes/_User", .findUsers),
            (.get, "/classes/_User/:objectId", .getUser),
            (.put, "/classes/_User/:objectId", .updateUser),
            (.delete, "/classes/_User/:objectId", .deleteUser),
            (.post, "/login", .logIn),
            (.get, "/login", .logIn),
            (.post, "/logout", .logOut),
            (.post, "/loginAs", .logInAs),
            (.post, "/verifyPassword", .verifyPassword),
            (.get, "/verifyPassword", .verifyPassword),
            (.post, "/upgradeToRevocableSession", .upgradeSession),
            (.get, "/sessions/me", .currentSession),
            (.post, "/sessions", .createSession),
            (.get, "/sessions", .findSessions),
            (.get, "/sessions/:objectId", .getSession),
            (.put, "/sessions/:objectId", .updateSession),
            (.delete, "/sessions/:objectId", .deleteSession),
            (.post, "/classes/_Session", .createSession),
            (.get, "/classes/_Session", .findSessions),
            (.get, "/classes/_Session/:objectId", .getSession),
            (.put, "/classes/_Session/:objectId", .updateSession),
            (.delete, "/classes/_Session/:objectId", .deleteSession),
            (.post, "/requestPasswordReset", .mailFlow),
            (.post, "/verificationEmailRequest", .mailFlow),
            (.get, "/serverInfo", .serverInfo),
        ]
        for (method, path, endpoint) in routes { router.add(method, path, endpoint) }
        return router
    }
}
