import JSON
import ParseCore
import ParseSQLite
import ParseWire
import SQLite
import TestSupport
import Testing

/// A file as the first version wrote it is one of today after it was opened.
@Suite struct UpgradeTests {
    private static let tables = """
        CREATE TABLE "$meta" (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE "$classes" (className TEXT PRIMARY KEY, tableName TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE "$fields" (
            className TEXT NOT NULL, field TEXT NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL,
            targetClass TEXT, columnName TEXT NOT NULL, PRIMARY KEY (className, field)) WITHOUT ROWID;
        CREATE TABLE "$accounts" (
            provider TEXT NOT NULL, id TEXT NOT NULL, userId TEXT NOT NULL, PRIMARY KEY (provider, id)) WITHOUT ROWID;
        CREATE INDEX "$accountsByUser" ON "$accounts" (userId);
        INSERT INTO "$meta" VALUES ('schemaVersion', 14);
        INSERT INTO "$classes" VALUES ('_User','_User'),('_Session','_Session'),('Game','Game'),('game','game~2');
        INSERT INTO "$accounts" VALUES ('p','1','u');
        """

    private static let users = """
        CREATE TABLE "_User" ("objectId" TEXT PRIMARY KEY NOT NULL,"createdAt" INTEGER NOT NULL,
            "updatedAt" INTEGER NOT NULL,"_readers" TEXT,"_writers" TEXT,"_nulls" TEXT,"_hashed_password" TEXT,
            "_session_token" BLOB,"_username_key" TEXT UNIQUE,"_email_key" TEXT UNIQUE,"username" TEXT,"email" TEXT,
            "emailVerified" INTEGER,"authData" TEXT);
        CREATE INDEX "_User_legacy_token" ON "_User" ("_session_token") WHERE "_session_token" IS NOT NULL;
        CREATE TABLE "_Session" ("objectId" TEXT PRIMARY KEY NOT NULL,"createdAt" INTEGER NOT NULL,
            "updatedAt" INTEGER NOT NULL,"_readers" TEXT,"_writers" TEXT,"_nulls" TEXT,"_token_hash" BLOB,
            "_token_tail" TEXT,"user" TEXT,"installationId" TEXT,"expiresAt" INTEGER,"createdWith" TEXT);
        CREATE UNIQUE INDEX "_Session_token" ON "_Session" ("_token_hash");
        CREATE INDEX "_Session_user" ON "_Session" ("user");
        CREATE UNIQUE INDEX "_Session_installation" ON "_Session" ("user", "installationId")
            WHERE "installationId" IS NOT NULL;
        CREATE INDEX "_Session_end" ON "_Session" ("expiresAt") WHERE "expiresAt" IS NOT NULL;
        INSERT INTO "_User" VALUES ('u',1,2,NULL,NULL,NULL,'hash',NULL,'name',NULL,'Name',NULL,1,NULL);
        INSERT INTO "_Session" VALUES ('s',1,2,NULL,NULL,NULL,x'07','tail','u',NULL,NULL,NULL);
        """

    private static let games = """
        CREATE TABLE "Game" ("objectId" TEXT PRIMARY KEY NOT NULL,"createdAt" INTEGER NOT NULL,
            "updatedAt" INTEGER NOT NULL,"_readers" TEXT,"_writers" TEXT,"_nulls" TEXT,"score" REAL,"owner" TEXT,
            "place~latitude" REAL,"place~longitude" REAL);
        CREATE TABLE "game~2" ("objectId" TEXT PRIMARY KEY NOT NULL,"createdAt" INTEGER NOT NULL,
            "updatedAt" INTEGER NOT NULL,"_readers" TEXT,"_writers" TEXT,"_nulls" TEXT);
        INSERT INTO "Game" VALUES ('g',3,4,NULL,NULL,char(31)||'place'||char(31),1.5,'u',NULL,NULL);
        PRAGMA application_id=1299346481;
        PRAGMA user_version=1;
        """

    private static let fields: [(String, [(String, String, String?)])] = [
        (
            "_User",
            [
                ("username", "String", nil), ("password", "String", nil), ("email", "String", nil),
                ("emailVerified", "Boolean", nil), ("authData", "Object", nil),
            ]
        ),
        (
            "_Session",
            [
                ("user", "Pointer", "_User"), ("installationId", "String", nil),
                ("sessionToken", "String", nil),
                ("expiresAt", "Date", nil), ("createdWith", "Object", nil),
            ]
        ),
        ("Game", [("score", "Number", nil), ("owner", "Pointer", "_User"), ("place", "GeoPoint", nil)]),
        ("game", []),
    ]

    private static let common: [(String, String, String?)] = [
        ("objectId", "String", nil), ("createdAt", "Date", nil), ("updatedAt", "Date", nil),
        ("ACL", "ACL", nil),
    ]

    private func oldFile(_ path: String) throws {
        let connection = try SQLiteConnection(path: path, mode: .readWriteCreate)
        defer { connection.close() }
        try connection.execute("PRAGMA journal_mode=WAL")
        for part in [Self.tables, Self.users, Self.games] { try connection.execute(part) }
        for (className, fields) in Self.fields {
            for (position, field) in (Self.common + fields).enumerated() {
                try connection.run(
                    "INSERT INTO \"$fields\" VALUES (?,?,?,?,?,?)",
                    [
                        .text(className), .text(field.0), .integer(Int64(position)), .text(field.1),
                        field.2.map(SQLiteValue.text) ?? .null, .text(field.0),
                    ]
                )
            }
        }
    }

    @Test func `nothing is lost, and everything of today is there`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/app.db"
        try oldFile(path)
        let storage = try SQLiteAppStorage(path: path)
        #expect(storage.schema.classNames == ["Game", "_Role", "_Session", "_User", "game"])
        for className in SystemClasses.initial {
            #expect(storage.schema[className] == SystemClasses.schema(of: className))
        }
        let games = try await storage.find(RowQuery(className: "Game", predicate: .everything))
        var game = StoredRow(
            objectID: "g",
            createdAt: Timestamp(milliseconds: 3),
            updatedAt: Timestamp(milliseconds: 4),
            fields: [
                "score": .number(1.5), "owner": .pointer(className: "_User", objectID: "u"), "place": .null,
            ]
        )
        #expect(games == [game])
        let account = ProviderIdentity(provider: "p", id: "1")
        #expect(try await storage.users(owning: [account]).map(\.objectID) == ["u"])

        // A row that has no size yet is changed like any other.
        for returnsRow in [false, true] {
            game.fields["score"] = .number(returnsRow ? 2 : 3)
            let update = RowUpdate(
                className: "Game",
                predicate: .id("g"),
                changes: [("score", .set(.number(returnsRow ? 2 : 3)))],
                returnsRow: returnsRow
            )
            _ = try await storage.write(WritePlan(steps: [.update(update)]))
            #expect(try await storage.find(RowQuery(className: "Game", predicate: .everything)) == [game])
        }
        let owned = RowQuery(
            className: "Game",
            predicate: .equal("owner", .pointer(className: "_User", objectID: "u"))
        )
        #expect(try await storage.explain(owned).description.contains("USING INDEX Game#owner"))
        let newest = RowQuery(
            className: "game",
            predicate: .everything,
            order: [SortKey(field: "createdAt", isDescending: true)]
        )
        #expect(try await storage.explain(newest).description.contains("#createdAt"))
        let role = StoredRow(
            objectID: "r",
            createdAt: Timestamp(milliseconds: 1),
            updatedAt: Timestamp(milliseconds: 1),
            fields: ["name": .string("R")]
        )
        let link = RelationChange(
            className: "_Role",
            field: "users",
            ownerID: "r",
            relatedIDs: ["u"],
            isRemoval: false
        )
        _ = try await storage.write(WritePlan(steps: [.insert(className: "_Role", role), .relate(link)]))
        #expect(try await storage.roles(ofUser: "u") == ["R"])
        let change: [SchemaChange] = [
            .removeField(className: "Game", field: "owner"), .removeField(className: "Game", field: "place"),
        ]
        _ = try await storage.write(WritePlan(schemaChanges: change, steps: []))
        await storage.close()
        let again = try SQLiteAppStorage(path: path)
        #expect(again.schema["Game"]?.fieldNames.contains("owner") == false)
        #expect(again.schema.version > 14)
    }

    @Test func `an upgrade that fails leaves the file as it was`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/app.db"
        try oldFile(path)
        func run(_ sql: String) throws -> [Int64] {
            let connection = try SQLiteConnection(path: path, mode: .readWrite)
            defer { connection.close() }
            return try connection.query(sql) { $0.int64(0) }
        }
        _ = try run("CREATE TABLE \"$indexes\" (a)")
        #expect(throws: StorageError.self) { try SQLiteAppStorage(path: path) }
        #expect(try run("PRAGMA user_version") == [1])
        #expect(try run("SELECT count(*) FROM pragma_table_info('$classes')") == [2])
        _ = try run("DROP TABLE \"$indexes\"")
        #expect(try SQLiteAppStorage(path: path).schema["_Role"] != nil)
    }
}
