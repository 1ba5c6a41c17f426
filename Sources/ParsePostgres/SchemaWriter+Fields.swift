import ParseCore
import Postgres

extension SchemaWriter {
    /// Names of columns that PostgreSQL keeps for itself.
    private static let reserved: Set<String> = [
        "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid",
    ]

    /// Adds a field to a class that is there.
    func addField(_ className: String, _ field: String, _ type: FieldType) async throws {
        if let existing = try await storedType(className, field) {
            guard existing == type else {
                throw StorageError.schemaConflict(
                    SchemaConflict(className: className, field: field, existing: existing, requested: type)
                )
            }
            return
        }
        guard let table = try await tableName(of: className) else {
            throw StorageError.unknownClass(className)
        }
        let name: String
        if case .relation = type {
            name = try await addLinkTable(className, field)
        } else {
            name = try await freeColumnName(className, table, field)
            if !SystemClasses.isVirtual(field, of: className) {
                try await addColumns(name, type, to: metadata(table))
            }
        }
        try await record(className, field, type, column: name, position: try await nextPosition(className))
        if SystemClasses.uniqueFields(of: className).contains(field) {
            try await execute([
                """
                CREATE UNIQUE INDEX \(PostgresIdentifier.quoted(ConstraintName.field(table, field))) \
                ON \(metadata(table)) (\(PostgresIdentifier.quoted(name)))
                """
            ])
        }
        try await raiseVersion()
    }

    /// Removes a field with what it holds, and the indexes that it is part of.
    func removeField(_ className: String, _ field: String) async throws {
        guard !CommonColumn.fields.contains(field), let type = try await storedType(className, field),
            let table = try await tableName(of: className),
            let name = try await storedName(className, field)
        else { return }
        try await removeIndexes(naming: field, of: className)
        if case .relation = type {
            try await drop(table: name)
        } else if !SystemClasses.isVirtual(field, of: className) {
            let columns = type.columnNames(name).map { "DROP COLUMN \(PostgresIdentifier.quoted($0))" }
            try await execute(["ALTER TABLE \(metadata(table)) \(columns.joined(separator: ","))"])
            // A field of that name that is added again has no value anywhere.
            let nulls = CommonColumn.nulls
            try await run(
                """
                UPDATE \(metadata(table)) SET \(nulls)=nullif(array_remove(\(nulls),$1::text),'{}')
                WHERE $1::text = ANY(\(nulls))
                """,
                [.text(field)]
            )
            try await retire("\(table).\(name)")
        }
        try await run(
            "DELETE FROM \(metadata("$fields")) WHERE class_name=$1 AND field=$2",
            [.text(className), .text(field)]
        )
        try await raiseVersion()
    }

    func record(
        _ className: String,
        _ field: String,
        _ type: FieldType,
        column: String,
        position: Int
    ) async throws {
        try await run(
            "INSERT INTO \(metadata("$fields")) VALUES ($1,$2,$3,$4,$5,$6,NULL)",
            [
                .text(className), .text(field), .integer(Int64(position)), .text(type.wireName),
                type.targetClass.map(PostgresValue.text) ?? .null, .text(column),
            ]
        )
    }

    /// The column, or the table of links, of a field.
    func storedName(_ className: String, _ field: String) async throws -> String? {
        try await first(
            "SELECT column_name FROM \(metadata("$fields")) WHERE class_name=$1 AND field=$2",
            [.text(className), .text(field)]
        ) { try $0.text(0) }
    }

    func storedType(_ className: String, _ field: String) async throws -> FieldType? {
        try await first(
            "SELECT type,target_class FROM \(metadata("$fields")) WHERE class_name=$1 AND field=$2",
            [.text(className), .text(field)]
        ) { row in
            let type = FieldType(wireName: try row.text(0) ?? "", targetClass: try row.text(1))
            guard let type else { throw StorageError.failed("a row of the schema is malformed") }
            return type
        }
    }

    private func addColumns(_ name: String, _ type: FieldType, to table: String) async throws {
        let columns = type.columnNames(name).map(PostgresIdentifier.quoted)
        let parts = columns.map { "ADD COLUMN \($0) \(type.columnType)" }
        try await execute(["ALTER TABLE \(table) \(parts.joined(separator: ","))"])
        // Who leads where is the commonest question after the id.
        if case .pointer = type { try await execute(["CREATE INDEX ON \(table) (\(columns[0]) NULLS FIRST)"]) }
    }

    /// Links are found from both sides.
    private func addLinkTable(_ className: String, _ field: String) async throws -> String {
        let name = try await freeTableName("_Join:\(field):\(className)")
        try await execute([
            """
            CREATE TABLE \(metadata(name)) (
                owning_id text COLLATE "C" NOT NULL, related_id text COLLATE "C" NOT NULL,
                PRIMARY KEY (owning_id, related_id))
            """,
            "CREATE INDEX ON \(metadata(name)) (related_id)",
        ])
        return name
    }

    private func nextPosition(_ className: String) async throws -> Int {
        let position = try await first(
            "SELECT coalesce(max(position),-1)+1 FROM \(metadata("$fields")) WHERE class_name=$1",
            [.text(className)]
        ) { try $0.integer(0) }
        return Int(position ?? 0)
    }

    private func freeColumnName(_ className: String, _ table: String, _ field: String) async throws -> String {
        let isTaken = try await first(
            """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid=$1::regclass
                    AND attname IN ($2::text, $2::text || '~latitude') AND NOT attisdropped)
                OR EXISTS (SELECT FROM \(metadata("$fields")) WHERE class_name=$3 AND column_name=$2)
                OR EXISTS (SELECT FROM \(metadata("$dropped")) WHERE name=$4)
            """,
            [.text(metadata(table)), .text(field), .text(className), .text("\(table).\(field)")]
        ) { try $0.bool(0) }
        return try await free(field, isTaken: (isTaken ?? false) || Self.reserved.contains(field))
    }
}
