import ParseCore
import Postgres

extension SchemaDraft {
    /// Names of columns that PostgreSQL or we keep for ourselves.
    private static let reserved: Set<String> = [
        "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "_readers", "_writers", "_nulls", "_row",
        "_username_key", "_email_key", "_bytes",
    ]

    /// Adds a field to a class that is there.
    mutating func addField(_ className: String, _ field: String, _ type: FieldType) throws {
        guard let stored = content.classes[className] else { throw StorageError.unknownClass(className) }
        if let existing = stored.field(field)?.type {
            guard existing == type else {
                throw StorageError.schemaConflict(
                    SchemaConflict(className: className, field: field, existing: existing, requested: type)
                )
            }
            return
        }
        let column: String
        if case .relation = type {
            column = try addLinkTable(className, field)
        } else {
            column = try freeColumnName(field, in: stored, className)
            if !SystemClasses.isVirtual(field, of: className) { addColumns(column, type, to: stored.table) }
        }
        record(className, field, type, column: column)
        if SystemClasses.uniqueFields(of: className).contains(field) {
            let name = PostgresIdentifier.quoted(ConstraintName.field(stored.table, field))
            execute(
                "CREATE UNIQUE INDEX \(name) ON \(table(stored.table)) (\(PostgresIdentifier.quoted(column)))"
            )
        }
        raiseVersion()
    }

    /// Removes a field with what it holds, and the indexes that it is part of.
    mutating func removeField(_ className: String, _ field: String) {
        guard !CommonColumn.fields.contains(field), let stored = content.classes[className],
            let known = stored.field(field)
        else { return }
        removeIndexes(naming: field, of: className)
        if case .relation = known.type {
            drop(known.column)
        } else if !SystemClasses.isVirtual(field, of: className) {
            let columns = known.type.columnNames(known.column).map {
                "DROP COLUMN \(PostgresIdentifier.quoted($0))"
            }
            execute("ALTER TABLE \(table(stored.table)) \(columns.joined(separator: ","))")
            // A field of that name that is added again has no value anywhere.
            let nulls = CommonColumn.nulls
            run(
                """
                UPDATE \(table(stored.table)) SET \(nulls)=nullif(array_remove(\(nulls),$1::text),'{}') \
                WHERE $1::text = ANY(\(nulls))
                """,
                [.text(field)]
            )
            retire("\(stored.table).\(known.column)")
        }
        run(
            "DELETE FROM \(table("$fields")) WHERE class_name=$1 AND field=$2",
            [.text(className), .text(field)]
        )
        update(className) { $0.fields.removeAll { $0.name == field } }
        raiseVersion()
    }

    mutating func setOptions(_ className: String, _ field: String, _ options: FieldOptions) {
        guard let index = content.classes[className]?.fields.firstIndex(where: { $0.name == field }) else {
            return
        }
        update(className) { $0.fields[index].options = options.stored == nil ? nil : options }
        run(
            "UPDATE \(table("$fields")) SET options=$1::json WHERE class_name=$2 AND field=$3",
            [options.stored.map(PostgresValue.text) ?? .null, .text(className), .text(field)]
        )
        raiseVersion()
    }

    mutating func record(_ className: String, _ field: String, _ type: FieldType, column: String) {
        let position = (content.classes[className]?.fields.map(\.position).max() ?? -1) + 1
        update(className) {
            $0.fields.append(
                SchemaContent.FieldContent(name: field, type: type, column: column, position: position)
            )
        }
        run(
            "INSERT INTO \(table("$fields")) VALUES ($1,$2,$3,$4,$5,$6,NULL)",
            [
                .text(className), .text(field), .integer(Int64(position)), .text(type.wireName),
                type.targetClass.map(PostgresValue.text) ?? .null, .text(column),
            ]
        )
    }

    private mutating func addColumns(_ name: String, _ type: FieldType, to tableName: String) {
        let columns = type.columnNames(name).map(PostgresIdentifier.quoted)
        let parts = columns.map { "ADD COLUMN \($0) \(type.columnType)" }
        execute("ALTER TABLE \(table(tableName)) \(parts.joined(separator: ","))")
        // Who leads where is the commonest question after the id.
        if case .pointer = type { createIndex(on: tableName, "\(columns[0]) NULLS FIRST") }
    }

    /// Links are found from both sides.
    private mutating func addLinkTable(_ className: String, _ field: String) throws -> String {
        let name = try freeName("_Join:\(field):\(className)")
        take(name)
        execute(
            """
            CREATE TABLE \(table(name)) (owning_id text COLLATE "C" NOT NULL, related_id text COLLATE "C" NOT NULL, \
            CONSTRAINT \(PostgresIdentifier.quoted(name + "#links")) PRIMARY KEY (owning_id, related_id))
            """
        )
        createIndex(on: name, "related_id")
        return name
    }

    private mutating func freeColumnName(
        _ field: String,
        in stored: SchemaContent.ClassContent,
        _ className: String
    ) throws -> String {
        let isTaken =
            Self.reserved.contains(field) || HiddenField.names(of: className).contains(field)
            || isTaken("\(stored.table).\(field)")
            || stored.fields.contains { other in
                other.column == field || other.type.columnNames(other.column).contains(field)
                    || other.type.columnNames(other.column).contains(field + "~latitude")
            }
        return try freeName(field, isTaken: isTaken)
    }
}
