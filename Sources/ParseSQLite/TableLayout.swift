import ParseCore
import SQLite

/// Which table and columns hold a class.
///
/// Names of classes and fields come from clients. They reach SQL only from here: each is looked up, and the
/// column found is quoted by the one function that quotes.
struct TableLayout: Sendable {
    let schema: ClassSchema
    /// As SQLite knows it.
    let tableName: String
    /// Quoted, ready for SQL.
    let table: String
    private let columns: [String: Column]
    private let relations: [String: Relation]
    /// What a select of whole rows lists, and how each value is read.
    let selection: RowSelection
    /// The whole row of an id, which is what is asked for most.
    let pointSelect: String

    /// How one field is stored.
    struct Column: Sendable {
        let field: String
        let type: FieldType
        /// Among the fields of the class.
        let position: Int
        /// Quoted names behind that of the table: one, or latitude and longitude.
        ///
        /// What stands in another table's
        /// scope, and what SQLite's own functions name, is never taken for it.
        let names: [String]
        /// Quoted names alone, as an assignment wants them.
        let bareNames: [String]

        var name: String {
            names[0]
        }
    }

    /// The table that holds the links of a relation field.
    struct Relation: Sendable {
        let targetClass: String
        /// Quoted.
        let table: String
    }

    init(schema: ClassSchema, tableName: String, storedNames: [String: String]) {
        self.schema = schema
        self.tableName = tableName
        let table = SQLiteIdentifier.quoted(tableName)
        self.table = table
        var columns: [String: Column] = [:]
        var relations: [String: Relation] = [:]
        var stored: [Column] = []
        for (position, field) in schema.fieldNames.enumerated() {
            guard let type = schema.type(of: field), type != .acl, let name = storedNames[field],
                !SystemClasses.isVirtual(field, of: schema.className)
            else { continue }
            if case .relation(let target) = type {
                relations[field] = Relation(targetClass: target, table: SQLiteIdentifier.quoted(name))
                continue
            }
            let bareNames = type.columnNames(name).map(SQLiteIdentifier.quoted)
            let column = Column(
                field: field,
                type: type,
                position: position,
                names: bareNames.map { "\(table).\($0)" },
                bareNames: bareNames
            )
            columns[field] = column
            if !CommonColumn.fields.contains(field) { stored.append(column) }
        }
        self.columns = columns
        self.relations = relations
        selection = RowSelection(
            table: table,
            columns: stored,
            hidden: HiddenField.names(of: schema.className)
        )
        pointSelect = "SELECT \(selection.list) FROM \(table) WHERE \"objectId\"=?"
    }

    /// `nil` for a field that the class does not have, or that no column holds.
    func column(_ field: String) -> Column? {
        columns[field]
    }

    /// `nil` for a field that is no relation.
    func relation(_ field: String) -> Relation? {
        relations[field]
    }

    /// The quoted column with the folded form of a field that is unique without regard to case.
    func keyColumn(of field: String) -> String? {
        guard schema.className == SystemClasses.user else { return nil }
        switch field {
        case "username": return SQLiteIdentifier.quoted(CommonColumn.usernameKey)
        case "email": return SQLiteIdentifier.quoted(CommonColumn.emailKey)
        default: return nil
        }
    }

    /// A column that every table has, or a hidden one of this class.
    func own(_ column: String) -> String {
        "\(table).\(SQLiteIdentifier.quoted(column))"
    }

    /// The number of the row: the order of insertion.
    var rowNumber: String {
        table + ".rowid"
    }
}

/// Columns that every table has.
enum CommonColumn {
    static let objectID = "objectId"
    static let createdAt = "createdAt"
    static let updatedAt = "updatedAt"
    /// Who may read and write, as a ``KeyList``; NULL is everybody.
    static let readers = "_readers"
    static let writers = "_writers"
    /// The fields that hold an explicit null, as a ``KeyList``; NULL in nearly every row.
    static let nulls = "_nulls"
    /// Not less than the size of the fields; NULL when it is not known.
    static let size = "_size"
    /// Of a user: name and address without regard to case.
    static let usernameKey = "_username_key"
    static let emailKey = "_email_key"

    static let fields: Set<String> = ["objectId", "createdAt", "updatedAt", "ACL"]
}

extension FieldType {
    /// The columns of a field whose column is called so; none for a relation.
    func columnNames(_ base: String) -> [String] {
        switch self {
        case .geoPoint: [base + "~latitude", base + "~longitude"]
        case .relation, .acl: []
        default: [base]
        }
    }

    /// Declarations of the columns, quoted names with their affinity.
    func columnDeclarations(_ base: String) -> [String] {
        let affinity =
            switch self {
            case .number, .geoPoint: "REAL"
            case .boolean, .date: "INTEGER"
            default: "TEXT"
            }
        return columnNames(base).map { SQLiteIdentifier.quoted($0) + " " + affinity }
    }
}

/// A list of keys in one text column, with a separator on both sides of each, so that a search for a key
/// between separators finds it whole.
enum KeyList {
    private static let separator = "\u{1F}"

    static func encode(_ keys: [String]) -> String {
        guard !keys.isEmpty else { return separator }
        return separator + keys.joined(separator: separator) + separator
    }

    static func decode(_ text: String) -> [String] {
        text.utf8.split(separator: 0x1F).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What to search for.
    static func needle(_ key: String) -> String {
        separator + key + separator
    }
}
