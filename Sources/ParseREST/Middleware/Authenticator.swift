import Cryptography
import HTTP
import JSON
import ParseCore

/// Finds out for which app a request is, and on whose behalf.
///
/// The order of the steps can be seen from outside, and is the contract's: the app, then maintenance and master
/// key, then client keys, then the session.
struct Authenticator: Sendable {
    let apps: any AppResolver

    /// Finds the app, and takes credentials out of the body where the headers name none.
    ///
    /// The app is acquired; whoever calls releases it.
    ///
    /// - Throws: ``ParseError/unauthorized`` without a known app.
    nonisolated(nonsending) func app(_ keys: inout RequestKeys, _ body: inout JSONObject) async throws -> App
    {
        body["_noBody"] = nil
        if let app = try await app(ofHeaders: &keys) { return app }
        let headerMasterKey = keys.keys.masterKey
        try keys.takeFromBody(&body)
        guard let id = keys.applicationID, let app = try await apps.acquire(id: id) else {
            throw ParseError.unauthorized
        }
        if let headerMasterKey, app.credentials.kind(ofMasterKey: headerMasterKey) != .master {
            apps.release(app)
            throw ParseError.unauthorized
        }
        return app
    }

    /// The app that the headers name; `nil` when they name none that is known.
    ///
    /// The app is acquired; whoever calls releases it.
    nonisolated(nonsending) func app(ofHeaders keys: inout RequestKeys) async throws -> App? {
        if let basic = keys.basic, let app = try await apps.acquire(id: basic.applicationID) {
            keys.useBasic()
            return app
        }
        guard let id = keys.applicationID else { return nil }
        return try await apps.acquire(id: id)
    }

    /// On whose behalf the request acts.
    ///
    /// - Throws: ``ParseError/unauthorized`` for a client without a key and for a master key from an address
    ///   that may not use it; 209 for a session that does not live.
    nonisolated(nonsending) func principal(
        _ keys: RequestKeys,
        _ app: App,
        client address: String,
        _ traits: Endpoint.Traits
    ) async throws -> Principal {
        if let key = keys.keys.maintenanceKey, app.withCredentials({ $0.acceptsMaintenance(key) }) {
            guard app.options.maintenanceKeyIPs.contains(address) else { throw ParseError.unauthorized }
            return .maintenance
        }
        if let key = keys.keys.masterKey, let kind = app.withCredentials({ $0.kind(ofMasterKey: key) }) {
            guard app.options.masterKeyIPs.contains(address) else { throw ParseError.unauthorized }
            return kind == .master ? .master : .readOnlyMaster
        }
        guard app.withCredentials({ $0.acceptsClient(keys.keys) }) else { throw ParseError.unauthorized }
        guard let token = keys.sessionToken, !token.isEmpty, !traits.contains(.ignoresSession) else {
            return .nobody
        }
        if traits.contains(.readsTokenItself) { return .nobody }
        if traits.contains(.readsLegacyToken), !SessionToken.isWellFormed(token) { return .nobody }
        return .user(try await app.authenticate(token: token))
    }
}
