package import Cryptography
package import ParseCore
import SQLite

extension SQLiteAppStorage {
    package func session(tokenHash: Digest256) async throws(StorageError) -> SessionRecord? {
        try await reading { connection, schema in
            let sessions = try schema.layout(SystemClasses.session)
            let session = try connection.first(
                "SELECT \(sessions.selection.list) FROM \(sessions.table) "
                    + "WHERE \(sessions.own(HiddenField.tokenHash))=?",
                [.blob(tokenHash.bytes)]
            ) { sessions.selection.row(from: $0) }
            guard let session else { return nil }
            guard let userID = session.userID, let user = try Self.user(userID, connection, schema) else {
                return SessionRecord(session: session, user: nil, roles: [])
            }
            let roles = try Self.roles(ofUser: userID, connection, schema)
            return SessionRecord(session: session, user: user, roles: roles)
        }
    }

    package func roles(ofUser userID: String) async throws(StorageError) -> [String] {
        try await reading { connection, schema in try Self.roles(ofUser: userID, connection, schema) }
    }

    package func users(owning identities: [ProviderIdentity]) async throws(StorageError) -> [StoredRow] {
        try await reading { connection, schema in
            var ids: [String] = []
            for identity in identities {
                let owner = try connection.first(
                    "SELECT userId FROM \"$accounts\" WHERE provider=? AND id=?",
                    [.text(identity.provider), .text(identity.id)]
                ) { $0.text(0) ?? "" }
                if let owner, !ids.contains(owner) { ids.append(owner) }
            }
            return try ids.prefix(2).compactMap { try Self.user($0, connection, schema) }
        }
    }

    private static func user(
        _ id: String,
        _ connection: SQLiteConnection,
        _ schema: StoredSchema
    ) throws -> StoredRow? {
        let users = try schema.layout(SystemClasses.user)
        return try connection.first(
            "SELECT \(users.selection.list) FROM \(users.table) WHERE \(users.own(CommonColumn.objectID))=?",
            [.text(id)]
        ) { users.selection.row(from: $0) }
    }

    /// Names in the order of their bytes.
    ///
    /// A role that is gone passes nothing on; one that is found twice counts once,
    /// which also ends circles.
    private static func roles(
        ofUser userID: String,
        _ connection: SQLiteConnection,
        _ schema: StoredSchema
    ) throws -> [String] {
        guard let roles = schema.layoutIfPresent(SystemClasses.role), let name = roles.column("name"),
            let users = roles.relation("users"), let parents = roles.relation("roles")
        else { return [] }
        let id = roles.own(CommonColumn.objectID)
        return try connection.query(
            """
            WITH RECURSIVE found(id) AS (
            SELECT \(id) FROM \(users.table) AS link JOIN \(roles.table) ON \(id)=link.owningId
            WHERE link.relatedId=?
            UNION
            SELECT \(id) FROM found JOIN \(parents.table) AS link ON link.relatedId=found.id
            JOIN \(roles.table) ON \(id)=link.owningId)
            SELECT \(name.name) FROM found JOIN \(roles.table) ON \(id)=found.id
            WHERE \(name.name) IS NOT NULL ORDER BY \(name.name)
            """,
            [.text(userID)]
        ) { $0.text(0) ?? "" }
    }
}
