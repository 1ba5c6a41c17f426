import JSON
import ParseCore
import Postgres

/// A schema under change: what it becomes, and the statements that make the database follow.
///
/// Nothing here asks the database: what has to be known is read before, under the app's lock, and the statements are
/// run after, together.
struct SchemaDraft {
    /// The quoted PostgreSQL schema of the app.
    let namespace: String
    private(set) var content: SchemaContent
    private(set) var statements: [PostgresStatement] = []
    private let oldVersion: Int64
    /// Names that something in the PostgreSQL schema has, and names that went; none is used again, so that what was
    /// read of the schema before never means another table or column.
    private var taken: Set<String>
    private var indexCount = 0

    /// Longer names are cut, as PostgreSQL would do without telling; what we put behind them needs room too.
    private static let nameLimit = 40

    init(_ content: SchemaContent, namespace: String, taken: Set<String>) {
        self.content = content
        self.namespace = namespace
        self.taken = taken
        oldVersion = content.version
    }

    /// What ``taken`` has to hold.
    static func namesQuery(_ namespace: String) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT ARRAY(SELECT relname::text FROM pg_catalog.pg_class WHERE relnamespace=$1::regnamespace
            UNION ALL SELECT name FROM \(namespace).\(PostgresIdentifier.quoted("$dropped")))
            """,
            [.text(namespace)]
        )
    }

    /// A draft of an app that has nothing yet.
    static func ofNewApp(_ applicationID: String, namespace: String) throws -> SchemaDraft {
        var draft = SchemaDraft(SchemaContent(), namespace: namespace, taken: [])
        draft.createMetadata(applicationID)
        for className in SystemClasses.initial { try draft.addClass(className) }
        return draft
    }

    /// The statements to run, with the new version.
    var finished: [PostgresStatement] {
        guard content.version != oldVersion else { return [] }
        let version = PostgresStatement(
            "UPDATE \(table("$meta")) SET version=$1",
            [.integer(content.version)]
        )
        return statements + [version]
    }

    /// Makes a change; what is so already is left as it is.
    ///
    /// That a class to be removed has no rows has been made sure of.
    ///
    /// - Throws: ``StorageError/schemaConflict(_:)`` for a field that has another type.
    mutating func apply(_ change: SchemaChange) throws {
        switch change {
        case .addClass(let className): try addClass(className)
        case .addField(let className, let field, let type):
            try addClass(className)
            try addField(className, field, type)
        case .setOptions(let className, let field, let options): setOptions(className, field, options)
        case .removeField(let className, let field): removeField(className, field)
        case .setPermissions(let className, let permissions): setPermissions(className, permissions)
        case .addIndex(let className, let name, let definition): try addIndex(className, name, definition)
        case .removeIndex(let className, let name): removeIndex(className, name)
        case .removeClass(let className): try removeClass(className)
        }
    }

    // MARK: Classes

    /// Makes the class if it is not there, one of Parse's own with the fields that it has.
    private mutating func addClass(_ className: String) throws {
        guard content.classes[className] == nil else { return }
        let name = try freeName(className)
        taken.insert(name)
        content.classes[className] = SchemaContent.ClassContent(table: name)
        execute("CREATE TABLE \(table(name)) (\(Self.columns(of: className, name).joined(separator: ",")))")
        run(
            "INSERT INTO \(table("$classes")) VALUES ($1,$2,NULL)",
            [.text(className), .text(name)]
        )
        for field in SystemClasses.commonFields { record(className, field.0, field.1, column: field.0) }
        raiseVersion()
        for (field, type) in SystemClasses.fields(of: className) ?? [] {
            try addField(className, field, type)
        }
        createCommonIndexes(className, name)
    }

    private static func columns(of className: String, _ table: String) -> [String] {
        func constraint(_ name: String, _ kind: String) -> String {
            "CONSTRAINT \(PostgresIdentifier.quoted(name)) \(kind)"
        }
        let keys = [
            (CommonColumn.usernameKey, ConstraintName.username(table)),
            (CommonColumn.emailKey, ConstraintName.email(table)),
        ].map { "\($0) text COLLATE \"C\" \(constraint($1, "UNIQUE"))" }
        return [
            "\(CommonColumn.objectID) text COLLATE \"C\" \(constraint(ConstraintName.id(table), "PRIMARY KEY"))",
            "\(CommonColumn.createdAt) bigint NOT NULL", "\(CommonColumn.updatedAt) bigint NOT NULL",
            "\(CommonColumn.readers) text[] COLLATE \"C\"", "\(CommonColumn.writers) text[] COLLATE \"C\"",
            "\(CommonColumn.nulls) text[] COLLATE \"C\"",
            "\(CommonColumn.row) bigint GENERATED ALWAYS AS IDENTITY "
                + constraint(table + "#row", "UNIQUE"),
        ] + HiddenField.names(of: className).map(HiddenColumn.declaration)
            + (className == SystemClasses.user ? keys : [])
    }

    /// Removes the class with all that belongs to it.
    ///
    /// One that every app has is there again at once, as new.
    private mutating func removeClass(_ className: String) throws {
        guard let stored = content.classes.removeValue(forKey: className) else { return }
        for field in stored.fields {
            if case .relation = field.type { drop(field.column) }
        }
        drop(stored.table)
        for metadata in ["$classes", "$fields", "$indexes"] {
            run("DELETE FROM \(table(metadata)) WHERE class_name=$1", [.text(className)])
        }
        raiseVersion()
        if SystemClasses.initial.contains(className) { try addClass(className) }
    }

    private mutating func setPermissions(_ className: String, _ permissions: ClassPermissions?) {
        guard content.classes[className] != nil else { return }
        content.classes[className]?.permissions = permissions?.json
        let json = permissions.map { JSONValue.object($0.json).serializedString() }
        run(
            "UPDATE \(table("$classes")) SET permissions=$1::json WHERE class_name=$2",
            [json.map(PostgresValue.text) ?? .null, .text(className)]
        )
        raiseVersion()
    }

    // MARK: Names and statements

    /// A name that no table has or had: the wanted one, or its beginning with a number behind it.
    mutating func freeName(_ wanted: String, isTaken: Bool = false) throws -> String {
        guard !wanted.isEmpty, !wanted.containsNUL else {
            throw StorageError.failed("a name that no table or column can have")
        }
        guard isTaken || taken.contains(wanted) || wanted.utf8.count > Self.nameLimit else { return wanted }
        var start = ""
        for character in wanted where start.utf8.count + character.utf8.count <= Self.nameLimit - 20 {
            start.append(character)
        }
        // No other has this version of the schema behind it.
        return "_\(start)~\(content.version)"
    }

    mutating func newIndexName() -> String {
        indexCount += 1
        return "index~\(oldVersion)~\(indexCount)"
    }

    mutating func drop(_ name: String) {
        execute("DROP TABLE \(table(name))")
        retire(name)
    }

    /// Remembers a name that is not to be used again.
    mutating func retire(_ name: String) {
        taken.insert(name)
        run("INSERT INTO \(table("$dropped")) VALUES ($1) ON CONFLICT DO NOTHING", [.text(name)])
    }

    func isTaken(_ name: String) -> Bool { taken.contains(name) }

    mutating func take(_ name: String) { taken.insert(name) }

    mutating func raiseVersion() { content.version += 1 }

    mutating func update(_ className: String, _ change: (inout SchemaContent.ClassContent) -> Void) {
        guard var stored = content.classes[className] else { return }
        change(&stored)
        content.classes[className] = stored
    }

    /// A table of the app, or one of its bookkeeping, quoted.
    func table(_ name: String) -> String {
        "\(namespace).\(PostgresIdentifier.quoted(name))"
    }

    mutating func execute(_ sql: String) {
        statements.append(PostgresStatement(sql, isReusable: false))
    }

    mutating func run(_ sql: String, _ parameters: [PostgresValue]) {
        statements.append(PostgresStatement(sql, parameters))
    }

    private mutating func createMetadata(_ applicationID: String) {
        execute("CREATE SCHEMA \(namespace)")
        let text = "text COLLATE \"C\""
        let tables = [
            ("$meta", "application_id \(text) NOT NULL, format int NOT NULL, version bigint NOT NULL"),
            ("$classes", "class_name \(text) PRIMARY KEY, table_name \(text) NOT NULL, permissions json"),
            (
                "$fields",
                """
                class_name \(text) NOT NULL, field \(text) NOT NULL, position int NOT NULL, type text NOT NULL,
                target_class \(text), column_name \(text) NOT NULL, options json, PRIMARY KEY (class_name, field)
                """
            ),
            (
                "$indexes",
                """
                class_name \(text) NOT NULL, name \(text) NOT NULL, keys json NOT NULL, index_name \(text),
                PRIMARY KEY (class_name, name)
                """
            ),
            ("$dropped", "name \(text) PRIMARY KEY"),
            (
                "$accounts",
                """
                provider \(text) NOT NULL, id \(text) NOT NULL, user_id \(text) NOT NULL, PRIMARY KEY (provider, id)
                """
            ),
        ]
        for (name, columns) in tables { execute("CREATE TABLE \(table(name)) (\(columns))") }
        execute("CREATE INDEX \"$accounts~user\" ON \(table("$accounts")) (user_id)")
        run("INSERT INTO \(table("$meta")) VALUES ($1,1,0)", [.text(applicationID)])
    }
}
