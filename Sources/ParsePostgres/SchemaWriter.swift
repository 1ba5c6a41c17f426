import JSON
import ParseCore
import Postgres

/// Changes tables so that they hold what the schema says; runs inside the transaction of a write, under the app's lock.
struct SchemaWriter {
    let transaction: PostgresTransaction
    /// The quoted PostgreSQL schema of the app.
    let namespace: String

    /// Longer names are cut, as PostgreSQL would do without telling; what we put behind them needs room too.
    static let nameLimit = 40

    /// Makes the tables of an app that has none.
    func create(applicationID: String) async throws {
        let meta = """
            CREATE TABLE \(metadata("$meta")) (
                application_id text COLLATE "C" NOT NULL, format int NOT NULL, version bigint NOT NULL)
            """
        try await execute([
            "CREATE SCHEMA \(namespace)", meta,
            """
            CREATE TABLE \(metadata("$classes")) (
                class_name text COLLATE "C" PRIMARY KEY, table_name text COLLATE "C" NOT NULL, permissions json)
            """,
            """
            CREATE TABLE \(metadata("$fields")) (
                class_name text COLLATE "C" NOT NULL, field text COLLATE "C" NOT NULL, position int NOT NULL,
                type text NOT NULL, target_class text COLLATE "C", column_name text COLLATE "C" NOT NULL,
                options json, PRIMARY KEY (class_name, field))
            """,
            """
            CREATE TABLE \(metadata("$indexes")) (
                class_name text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, keys json NOT NULL,
                index_name text COLLATE "C", PRIMARY KEY (class_name, name))
            """,
            "CREATE TABLE \(metadata("$dropped")) (name text COLLATE \"C\" PRIMARY KEY)",
            """
            CREATE TABLE \(metadata("$accounts")) (
                provider text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, user_id text COLLATE "C" NOT NULL,
                PRIMARY KEY (provider, id))
            """,
            "CREATE INDEX ON \(metadata("$accounts")) (user_id)",
        ])
        try await run(
            "INSERT INTO \(metadata("$meta")) VALUES ($1,1,0)",
            [.text(applicationID)]
        )
        for className in SystemClasses.initial { try await addClass(className) }
    }

    /// Applies the changes, in order; what is so already is left as it is.
    ///
    /// - Throws: ``StorageError/schemaConflict(_:)`` for a field that has another type,
    ///   ``StorageError/classNotEmpty(_:count:)`` for the removal of a class that has rows.
    func apply(_ changes: [SchemaChange]) async throws {
        for change in changes { try await apply(change) }
    }

    private func apply(_ change: SchemaChange) async throws {
        switch change {
        case .addClass(let className): try await addClass(className)
        case .addField(let className, let field, let type):
            try await addClass(className)
            try await addField(className, field, type)
        case .setOptions(let className, let field, let options):
            try await update(
                "UPDATE \(metadata("$fields")) SET options=$1::json WHERE class_name=$2 AND field=$3",
                [options.stored.map(PostgresValue.text) ?? .null, .text(className), .text(field)]
            )
        case .removeField(let className, let field): try await removeField(className, field)
        case .setPermissions(let className, let permissions):
            let json = permissions.map { JSONValue.object($0.json).serializedString() }
            try await update(
                "UPDATE \(metadata("$classes")) SET permissions=$1::json WHERE class_name=$2",
                [json.map(PostgresValue.text) ?? .null, .text(className)]
            )
        case .addIndex(let className, let name, let definition):
            try await addIndex(className, name, definition)
        case .removeIndex(let className, let name): try await removeIndex(className, name)
        case .removeClass(let className): try await removeClass(className)
        }
    }

    private func update(_ sql: String, _ parameters: [PostgresValue]) async throws {
        if try await run(sql, parameters) > 0 { try await raiseVersion() }
    }

    // MARK: Classes

    /// Makes the class if it is not there, one of Parse's own with the fields that it has.
    func addClass(_ className: String) async throws {
        guard try await tableName(of: className) == nil else { return }
        let table = try await freeTableName(className)
        let quoted = metadata(table)
        func unique(_ column: String, _ name: String) -> String {
            "\(column) text COLLATE \"C\" CONSTRAINT \(PostgresIdentifier.quoted(name)) UNIQUE"
        }
        let keys =
            className == SystemClasses.user
            ? [
                unique(CommonColumn.usernameKey, ConstraintName.username(table)),
                unique(CommonColumn.emailKey, ConstraintName.email(table)),
            ] : []
        let id = PostgresIdentifier.quoted(ConstraintName.id(table))
        let columns =
            [
                "\(CommonColumn.objectID) text COLLATE \"C\" CONSTRAINT \(id) PRIMARY KEY",
                "\(CommonColumn.createdAt) bigint NOT NULL", "\(CommonColumn.updatedAt) bigint NOT NULL",
                "\(CommonColumn.readers) text[] COLLATE \"C\"", "\(CommonColumn.writers) text[] COLLATE \"C\"",
                "\(CommonColumn.nulls) text[] COLLATE \"C\"",
                "\(CommonColumn.row) bigint GENERATED ALWAYS AS IDENTITY UNIQUE",
            ] + HiddenField.names(of: className).map(HiddenColumn.declaration) + keys
        try await execute(["CREATE TABLE \(quoted) (\(columns.joined(separator: ",")))"])
        try await run(
            "INSERT INTO \(metadata("$classes")) VALUES ($1,$2,NULL)",
            [.text(className), .text(table)]
        )
        for (position, field) in SystemClasses.commonFields.enumerated() {
            try await record(className, field.0, field.1, column: field.0, position: position)
        }
        for (field, type) in SystemClasses.fields(of: className) ?? [] {
            try await addField(className, field, type)
        }
        try await createCommonIndexes(className, quoted)
        try await raiseVersion()
    }

    /// Removes the class with all that belongs to it. One that every app has is there again at once, as new.
    private func removeClass(_ className: String) async throws {
        guard let name = try await tableName(of: className) else { return }
        // Nobody adds a row between the count and the end.
        try await execute(["LOCK TABLE \(metadata(name)) IN ACCESS EXCLUSIVE MODE"])
        let count = try await first("SELECT count(*) FROM \(metadata(name))", []) { try $0.integer(0) } ?? 0
        guard count == 0 else { throw StorageError.classNotEmpty(className, count: Int(count)) }
        let links = try await transaction.query(
            "SELECT column_name FROM \(metadata("$fields")) WHERE class_name=$1 AND type='Relation'",
            [.text(className)]
        )
        for row in links.rows { try await drop(table: try row.text(0) ?? "") }
        try await drop(table: name)
        for table in ["$classes", "$fields", "$indexes"] {
            try await run("DELETE FROM \(metadata(table)) WHERE class_name=$1", [.text(className)])
        }
        try await raiseVersion()
        if SystemClasses.initial.contains(className) { try await addClass(className) }
    }

    // MARK: Names

    func tableName(of className: String) async throws -> String? {
        try await first(
            "SELECT table_name FROM \(metadata("$classes")) WHERE class_name=$1",
            [.text(className)]
        ) { try $0.text(0) }
    }

    /// A name that no table has or had: the wanted one, or with a number behind it.
    ///
    /// What was read of the schema before thus never means another table.
    func freeTableName(_ wanted: String) async throws -> String {
        let isTaken = try await first(
            """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE relname=$1 AND relnamespace=$2::regnamespace)
                OR EXISTS (SELECT FROM \(metadata("$dropped")) WHERE name=$1)
            """,
            [.text(wanted), .text(namespace)]
        ) { try $0.bool(0) }
        return try await free(wanted, isTaken: isTaken ?? false)
    }

    /// The name itself, or when it is long or taken its beginning with the version of the schema behind it, which no
    /// other has.
    func free(_ wanted: String, isTaken: Bool) async throws -> String {
        guard !wanted.isEmpty, !wanted.containsNUL else {
            throw StorageError.failed("a name that no table or column can have")
        }
        guard isTaken || wanted.utf8.count > Self.nameLimit else { return wanted }
        let version = try await first("SELECT version FROM \(metadata("$meta"))", []) { try $0.integer(0) } ?? 0
        var start = ""
        for character in wanted where start.utf8.count + character.utf8.count <= Self.nameLimit - 20 {
            start.append(character)
        }
        return "_\(start)~\(version)"
    }

    func drop(table: String) async throws {
        try await execute(["DROP TABLE \(metadata(table))"])
        try await retire(table)
    }

    /// Remembers a name that is not to be used again.
    func retire(_ name: String) async throws {
        try await run(
            "INSERT INTO \(metadata("$dropped")) VALUES ($1) ON CONFLICT DO NOTHING",
            [.text(name)]
        )
    }

    func raiseVersion() async throws {
        try await run("UPDATE \(metadata("$meta")) SET version=version+1", [])
    }

    // MARK: Statements

    /// A table of the app, or one of its bookkeeping, quoted.
    func metadata(_ table: String) -> String {
        "\(namespace).\(PostgresIdentifier.quoted(table))"
    }

    func execute(_ statements: [String]) async throws {
        _ = try await transaction.run(statements.map { PostgresStatement($0, isReusable: false) })
    }

    /// Runs a statement.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    func run(_ sql: String, _ parameters: [PostgresValue]) async throws -> Int {
        try await transaction.query(sql, parameters).affectedRows
    }

    func first<Result>(
        _ sql: String,
        _ parameters: [PostgresValue],
        _ read: (PostgresRow) throws -> Result?
    ) async throws -> Result? {
        try await transaction.query(sql, parameters).first.flatMap(read)
    }
}
