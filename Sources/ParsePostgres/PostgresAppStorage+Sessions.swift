package import Cryptography
package import ParseCore
import Postgres

extension PostgresAppStorage {
    package func session(tokenHash: Digest256) async throws(StorageError) -> SessionRecord? {
        try await withSchema { schema in
            let sessions = try schema.layout(SystemClasses.session)
            let users = try schema.layout(SystemClasses.user)
            guard let owner = sessions.column("user")?.names[0] else { return nil }
            let hash = PostgresIdentifier.quoted(HiddenField.tokenHash)
            // One statement, so that all is as of one moment.
            let sql = """
                SELECT \(sessions.selection.list("s")),\(users.selection.list("u")),\
                ARRAY(\(Self.roles(schema, of: "s.\(owner)"))) \
                FROM \(sessions.table) AS s LEFT JOIN \(users.table) AS u ON u.\(CommonColumn.objectID)=s.\(owner) \
                WHERE s.\(hash)=$1
                """
            let result = try await self.database.pool.query(sql, [.bytes(tokenHash.bytes)])
            guard let row = result.first else { return nil }
            let session = try sessions.selection.row(from: row)
            let start = sessions.selection.count
            guard !row.isNull(start) else { return SessionRecord(session: session, user: nil, roles: []) }
            return SessionRecord(
                session: session,
                user: try users.selection.row(from: row, at: start),
                roles: try row.textArray(start + users.selection.count) ?? []
            )
        }
    }

    package func roles(ofUser userID: String) async throws(StorageError) -> [String] {
        guard !userID.containsNUL else { return [] }
        return try await withSchema { schema in
            let sql = "SELECT ARRAY(\(Self.roles(schema, of: "$1::text")))"
            return try await self.database.pool.query(sql, [.text(userID)]).first?.textArray(0) ?? []
        }
    }

    package func users(owning identities: [ProviderIdentity]) async throws(StorageError) -> [StoredRow] {
        let identities = identities.filter { !$0.provider.containsNUL && !$0.id.containsNUL }
        guard !identities.isEmpty else { return [] }
        return try await withSchema { schema in
            let users = try schema.layout(SystemClasses.user)
            let sql = """
                SELECT \(users.selection.list("u")) FROM \(users.table) AS u JOIN (
                    SELECT a.user_id, min(k.place) AS place
                    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(provider, id, place)
                    JOIN \(schema.metadata("$accounts")) AS a ON a.provider=k.provider AND a.id=k.id
                    GROUP BY a.user_id) AS found ON found.user_id=u.\(CommonColumn.objectID)
                ORDER BY found.place LIMIT 2
                """
            let lists: [PostgresValue] = [
                .textArray(identities.map(\.provider)), .textArray(identities.map(\.id)),
            ]
            let result = try await self.database.pool.query(sql, lists)
            return try result.rows.map { try users.selection.row(from: $0) }
        }
    }

    /// Names in the order of their bytes.
    ///
    /// A role that is gone passes nothing on; one that is found twice counts once,
    /// which also ends circles.
    private static func roles(_ schema: StoredSchema, of userID: String) -> String {
        guard let roles = schema.layoutIfPresent(SystemClasses.role),
            let name = roles.column("name")?.names[0],
            let users = roles.relation("users"), let parents = roles.relation("roles")
        else { return "SELECT ''::text WHERE false" }
        let id = CommonColumn.objectID
        return """
            WITH RECURSIVE found(id) AS (
            SELECT r.\(id) FROM \(users.table) AS l JOIN \(roles.table) AS r ON r.\(id)=l.owning_id
            WHERE l.related_id=\(userID)
            UNION
            SELECT r.\(id) FROM found AS f JOIN \(parents.table) AS l ON l.related_id=f.id
            JOIN \(roles.table) AS r ON r.\(id)=l.owning_id)
            SELECT r.\(name) FROM found AS f JOIN \(roles.table) AS r ON r.\(id)=f.id
            WHERE r.\(name) IS NOT NULL ORDER BY r.\(name)
            """
    }
}
