import Foundation

/// The requests for single objects, and what their answers change here.
enum ObjectCalls {
    enum SaveMode: Sendable {
        case save
        case create
        case replace
    }

    static func fetch<Object: ParseObject>(
        _ object: Object,
        _ includeKeys: [String]?,
        _ options: API.Options
    ) -> Call<Object> {
        ParseClient.call { client in
            let objectId = try requireId(object, "fetched")
            let generation = client.session.generation
            var request = WireRequest(
                method: .get,
                path: WireRequest.path(className: object.className, objectId: objectId),
                options: options
            )
            if let includeKeys, !includeKeys.isEmpty {
                request.query = [("include", includeKeys.joined(separator: ","))]
            }
            return .exchange(
                Exchange(request: request) { reply in
                    let fetched = try ParseCoding.decode(
                        Object.self,
                        from: Self.fields(of: reply, id: objectId)
                    )
                    client.snapshots.record(fetched)
                    if fetched is any ParseUser {
                        noteUser(client, objectId, generation, reply, sent: nil)
                    } else if fetched is any ParseInstallation {
                        client.installation.keep(Self.fields(of: reply, id: objectId))
                    }
                    return fetched
                }
            )
        }
    }

    static func save<Object: ParseObject>(
        _ object: Object,
        _ mode: SaveMode,
        _ ignoringCustomIds: Bool,
        _ options: API.Options
    ) -> Call<Object> {
        ParseClient.call { client in
            let customIds = client.configuration.isAllowingCustomObjectIds && !ignoringCustomIds
            if customIds, object.objectId == nil, mode != .replace {
                throw ParseError(
                    code: .missingObjectId,
                    message:
                        "The app chooses the ids of objects (allowingCustomObjectIds), and this one has none."
                )
            }
            let exists =
                switch mode {
                case .create: false
                case .replace: true
                case .save: object.objectId != nil && (!customIds || object.createdAt != nil)
                }
            if exists {
                return .exchange(try update(object, client, mode, options))
            }
            return .exchange(try create(object, client, customIds, options))
        }
    }

    static func delete<Object: ParseObject>(_ object: Object, _ options: API.Options) -> Call<Void> {
        ParseClient.call { client in
            let objectId = try requireId(object, "deleted")
            let generation = client.session.generation
            let request = WireRequest(
                method: .delete,
                path: WireRequest.path(className: object.className, objectId: objectId),
                options: options
            )
            return .exchange(
                Exchange(request: request) { _ in
                    if object is any ParseUser {
                        client.session.forget(objectId: objectId, generation: generation)
                    } else if object is any ParseInstallation,
                        client.installation.object["objectId"]?.string == objectId
                    {
                        client.installation.forgetObject()
                    }
                }
            )
        }
    }

    // MARK: Parts

    private static func create<Object: ParseObject>(
        _ object: Object,
        _ client: ParseClient,
        _ customIds: Bool,
        _ options: API.Options
    ) throws -> Exchange<Object> {
        var object = object
        if object.ACL == nil, !(object is any ParseUser), !(object is any ParseInstallation) {
            object.ACL = try ParseACL.storedDefault(client)
        }
        let value = object
        let body = try ParseEncoder().members(of: value, skipping: customIds ? .customObjectId : .object)
        let request = WireRequest(
            method: .post,
            path: WireRequest.path(className: value.className),
            body: .object(body),
            options: options
        )
        return Exchange(request: request) { reply in
            try saved(value, client, reply)
        }
    }

    private static func update<Object: ParseObject>(
        _ object: Object,
        _ client: ParseClient,
        _ mode: SaveMode,
        _ options: API.Options
    ) throws -> Exchange<Object> {
        let objectId = try requireId(object, "replaced")
        let original = try object.originalData.map { try JSONTree(parsing: $0) }
        let body = try updateBody(object, client, mode, original: original)
        let generation = client.session.generation
        let request = WireRequest(
            method: .put,
            path: WireRequest.path(className: object.className, objectId: objectId),
            body: .object(body),
            options: options
        )
        var exchange = Exchange(request: request) { reply in
            if object is any ParseUser {
                noteUser(client, objectId, generation, reply, sent: body)
            }
            // A value made by `mergeable` lacks what was not changed.
            let whole = try original.map { try object.filled(from: $0) } ?? object
            return try saved(whole, client, reply)
        }
        if object is any ParseUser, body["password"] != nil {
            // The server makes a new token for a new password, and until it arrives the old one is refused.
            exchange.tokenChange = client.session.expectNewToken(within: client.transport.limits.total)
        }
        return exchange
    }

    private static func updateBody<Object: ParseObject>(
        _ object: Object,
        _ client: ParseClient,
        _ mode: SaveMode,
        original: JSONTree?
    ) throws -> [String: JSONTree] {
        let mine = try ParseEncoder().members(of: object, skipping: .object)
        let current = object is any ParseUser ? client.session.logIn : nil
        let isCurrentUser = current != nil && current?.objectId == object.objectId
        var body = mine
        if mode == .save {
            if let original {
                let before = try ParseCoding.decode(Object.self, from: original)
                var known = Snapshots.Known(Snapshots.members(before) ?? [:])
                known.removable = []
                body = Changes.between(known, mine)
            } else if let known = client.snapshots.known(object) {
                body = Changes.between(known, mine)
            } else if isCurrentUser, let user = current?.user,
                let before = try? ParseCoding.decode(Object.self, from: user),
                let updatedAt = before.updatedAt,
                updatedAt == object.updatedAt
            {
                body = Changes.between(Snapshots.Known(Snapshots.members(before) ?? [:]), mine)
            }
            if isCurrentUser, let email = current?.user["email"], body["email"] == email {
                // The server would take the address for a new one and send a mail to verify it.
                body["email"] = nil
            }
        }
        if isCurrentUser, current?.anonymousId != nil, body["password"] != nil {
            body["authData"] = withoutAnonymous(body["authData"])
        }
        return body
    }

    /// The same `authData` with an instruction to drop the anonymous identity.
    static func withoutAnonymous(_ authData: JSONTree?) -> JSONTree {
        var providers = authData?.object ?? [:]
        // Whoever knows the id could still log in with it.
        providers["anonymous"] = .null
        return .object(providers)
    }

    /// The value with what the server set in its answer to a save.
    private static func saved<Object: ParseObject>(
        _ object: Object,
        _ client: ParseClient,
        _ reply: Reply
    ) throws -> Object {
        var saved = object
        let managed: Set<String> = ["objectId", "createdAt", "updatedAt"]
        let others = (reply.tree.object ?? [:]).filter {
            !managed.contains($0.key) && !Changes.answerOnly.contains($0.key)
        }
        if !others.isEmpty {
            // Fields that a trigger changed.
            let whole = try TreeEncoder(children: .whole).encode(saved)
            saved = try ParseCoding.decode(Object.self, from: Changes.apply([:], others, to: whole))
        }
        saved.objectId = reply.tree["objectId"]?.string ?? saved.objectId
        saved.createdAt = reply.tree["createdAt"].flatMap(date) ?? saved.createdAt
        saved.updatedAt =
            reply.tree["updatedAt"].flatMap(date) ?? reply.tree["createdAt"].flatMap(date) ?? saved.updatedAt
        saved.originalData = nil
        guard saved.objectId != nil else {
            throw ParseError(code: .otherCause, message: "The server's answer to the save has no objectId.")
        }
        saved = withoutPassword(saved)
        client.snapshots.record(saved)
        if saved is any ParseInstallation {
            client.installation.keep(try TreeEncoder(children: .whole).encode(saved))
        }
        return saved
    }

    static func withoutPassword<Object: ParseObject>(_ object: Object) -> Object {
        guard var user = object as? any ParseUser else { return object }
        user.password = nil
        return user as? Object ?? object
    }

    /// Takes over what an answer says about the current user, its new session token included.
    static func noteUser(
        _ client: ParseClient,
        _ objectId: String,
        _ generation: UInt64,
        _ reply: Reply,
        sent: [String: JSONTree]?
    ) {
        client.session.update(objectId: objectId, generation: generation) { logIn in
            if let token = reply.sessionToken {
                logIn.token = token
            }
            if let sent {
                logIn.user = Changes.apply(sent, reply.tree.object ?? [:], to: logIn.user)
            } else if let new = reply.tree["updatedAt"].flatMap(date),
                let old = logIn.user["updatedAt"].flatMap(date), new < old
            {
                // A slow answer from before the last save.
            } else {
                logIn.user = Self.fields(of: reply, id: objectId)
            }
        }
    }

    /// The object in an answer, without the members that are no fields of it.
    static func fields(of reply: Reply, id objectId: String) -> JSONTree {
        var members = reply.tree.object ?? [:]
        for key in Changes.answerOnly {
            members[key] = nil
        }
        members["objectId"] = members["objectId"] ?? .string(objectId)
        return .object(members)
    }

    static func date(_ tree: JSONTree) -> Date? {
        (tree.string ?? tree["iso"]?.string).flatMap(ParseDate.date)
    }

    private static func requireId<Object: ParseObject>(_ object: Object, _ what: String) throws -> String {
        guard let objectId = object.objectId else {
            throw ParseError(
                code: .missingObjectId,
                message: "A \(object.className) without objectId cannot be \(what)."
            )
        }
        return objectId
    }
}
