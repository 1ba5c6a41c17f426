import ParseCore
import SQLite

/// Which table and columns hold a class.
///
/// Names of classes and fields come from clients. They reach SQL only from here: each is looked up, and the
/// column found is quoted by the one function that quotes.
struct TableLayout: Sendable {
    let schema: ClassSchema
    /// Quoted, ready for SQL.
    let table: String
    private let columns: [String: Column]
    /// What a select of whole rows lists, and how each value is read.
    let selection: RowSelection

    /// How one field is stored.
    struct Column: Sendable {
        let field: String
        let type: FieldType
        /// Quoted names: one, or latitude and longitude.
        let names: [String]

        var name: String {
            names[0]
        }
    }

    init(schema: ClassSchema, tableName: String, columnNames: [String: String]) {
        self.schema = schema
        table = SQLiteIdentifier.quoted(tableName)
        var columns: [String: Column] = [:]
        var stored: [Column] = []
        for field in schema.fieldNames {
            guard let type = schema.type(of: field), type != .acl, let base = columnNames[field],
                !SystemClasses.isVirtual(field, of: schema.className)
            else { continue }
            let column = Column(
                field: field,
                type: type,
                names: type.columnNames(base).map(SQLiteIdentifier.quoted)
            )
            columns[field] = column
            if !CommonColumn.fields.contains(field) { stored.append(column) }
        }
        self.columns = columns
        selection = RowSelection(columns: stored, hidden: HiddenField.names(of: schema.className))
    }

    /// `nil` for a field that the class does not have, or that no column holds.
    func column(_ field: String) -> Column? {
        columns[field]
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
    /// Of a user: name and address without regard to case.
    static let usernameKey = "_username_key"
    static let emailKey = "_email_key"

    static let fields: Set<String> = ["objectId", "createdAt", "updatedAt", "ACL"]
}

extension FieldType {
    /// The columns of a field whose column is called so.
    fileprivate func columnNames(_ base: String) -> [String] {
        self == .geoPoint ? [base + "~latitude", base + "~longitude"] : [base]
    }

    /// Declarations of the columns, unquoted names with their affinity.
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
