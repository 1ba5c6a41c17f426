package import HTTP
import ParseCore

extension Router where Endpoint == ParseREST.Endpoint {
    /// Every route of the REST API, below the mount point (Parse REST guide, "Quick Reference").
    package static func rest() -> Router<ParseREST.Endpoint> {
        var router = Router()
        let routes: [(HTTPMethod, String, ParseREST.Endpoint)] = [
            (.post, "/users", .signUp),
            (.get, "/users", .findObjects(SystemClasses.user)),
            (.get, "/users/me", .currentUser),
            (.get, "/users/:objectId", .getUser),
            (.put, "/users/:objectId", .updateUser),
            (.delete, "/users/:objectId", .deleteUser),
            (.post, "/classes/_User", .signUp),
            (.get, "/classes/_User", .findObjects(SystemClasses.user)),
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
            (.get, "/sessions", .findObjects(SystemClasses.session)),
            (.get, "/sessions/:objectId", .getObject(SystemClasses.session)),
            (.put, "/sessions/:objectId", .updateSession),
            (.delete, "/sessions/:objectId", .deleteSession),
            (.post, "/classes/_Session", .createSession),
            (.get, "/classes/_Session", .findObjects(SystemClasses.session)),
            (.get, "/classes/_Session/:objectId", .getObject(SystemClasses.session)),
            (.put, "/classes/_Session/:objectId", .updateSession),
            (.delete, "/classes/_Session/:objectId", .deleteSession),
            (.post, "/classes/:className", .createObject()),
            (.get, "/classes/:className", .findObjects()),
            (.get, "/classes/:className/:objectId", .getObject()),
            (.put, "/classes/:className/:objectId", .updateObject()),
            (.delete, "/classes/:className/:objectId", .deleteObject()),
            (.post, "/roles", .createObject(SystemClasses.role)),
            (.get, "/roles", .findObjects(SystemClasses.role)),
            (.get, "/roles/:objectId", .getObject(SystemClasses.role)),
            (.put, "/roles/:objectId", .updateObject(SystemClasses.role)),
            (.delete, "/roles/:objectId", .deleteObject(SystemClasses.role)),
            (.get, "/push_audiences", .findAudiences),
            (.post, "/push_audiences", .createAudience),
            (.get, "/push_audiences/:objectId", .getAudience),
            (.put, "/push_audiences/:objectId", .updateAudience),
            (.delete, "/push_audiences/:objectId", .deleteAudience),
            (.post, "/validate_purchase", .validatePurchase),
            (.post, "/requestPasswordReset", .mailFlow),
            (.post, "/verificationEmailRequest", .mailFlow),
            (.get, "/serverInfo", .serverInfo),

            (.get, "/schemas", .readSchemas),
            (.post, "/schemas", .createSchema),
            (.get, "/schemas/:className", .readSchema),
            (.post, "/schemas/:className", .createSchema),
            (.put, "/schemas/:className", .updateSchema),
            (.delete, "/schemas/:className", .deleteSchema),
            (.delete, "/purge/:className", .purgeClass),
            (.get, "/config", .readConfig),
            (.put, "/config", .updateConfig),
            (.post, "/events/:name", .recordEvent),
            (.get, "/security", .securityReport),
        ]
        for (method, path, endpoint) in routes { router.add(method, path, endpoint) }
        return router
    }
}
