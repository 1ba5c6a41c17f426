import ParseCore
import Postgres

/// Which table and columns hold a class.
///
/// Names of classes and fields come from clients. They reach SQL only from here: each is looked up, and the
/// column found is quoted by the one function that quotes.
struct TableLayout: Sendable {
    let schema: ClassSchema
    /// As PostgreSQL knows it, without the schema.
    let tableName: String
    /// Quoted, with the schema, ready for SQL.
    let table: String
    private let columns: [String: Column]
    private let relations: [String: Relation]
    /// What a select of whole rows lists, and how each value is read.
    let selection: RowSelection

    /// How one field is stored.
    struct Column: Sendable {
        let field: String
        let type: FieldType
        /// Among the fields of the class.
        let position: Int
        /// Quoted names: one, or latitude and longitude.
        let names: [String]
    }

    /// The table that holds the links of a relation field.
    struct Relation: Sendable {
        let targetClass: String
        /// Quoted, with the schema.
        let table: String
    }

    init(schema: ClassSchema, namespace: String, tableName: String, storedNames: [String: String]) {
        self.schema = schema
        self.tableName = tableName
        table = "\(namespace).\(PostgresIdentifier.quoted(tableName))"
        var columns: [String: Column] = [:]
        var relations: [String: Relation] = [:]
        var stored: [Column] = []
        for (position, field) in schema.fieldNames.enumerated() {
            guard let type = schema.type(of: field), type != .acl, let name = storedNames[field],
                !SystemClasses.isVirtual(field, of: schema.className)
            else { continue }
            if case .relation(let target) = type {
                let table = "\(namespace).\(PostgresIdentifier.quoted(name))"
                relations[field] = Relation(targetClass: target, table: table)
                continue
            }
            let names = type.columnNames(name).map(PostgresIdentifier.quoted)
            let column = Column(field: field, type: type, position: position, names: names)
            columns[field] = column
            if !CommonColumn.fields.contains(field) { stored.append(column) }
        }
        self.columns = columns
        self.relations = relations
        selection = RowSelection(columns: stored, hidden: HiddenField.names(of: schema.className))
    }

    /// `nil` for a field that the class does not have, or that no column holds.
    func column(_ field: String) -> Column? {
        columns[field]
    }

    /// `nil` for a field that is no relation.
    func relation(_ field: String) -> Relation? {
        relations[field]
    }

    /// The column with the folded form of a field that is unique without regard to case.
    func keyColumn(of field: String) -> String? {
        guard schema.className == SystemClasses.user else { return nil }
        switch field {
        case "username": return CommonColumn.usernameKey
        case "email": return CommonColumn.emailKey
        default: return nil
        }
    }
}

/// Columns that every table has, quoted.
enum CommonColumn {
    static let objectID = PostgresIdentifier.quoted("objectId")
    static let createdAt = PostgresIdentifier.quoted("createdAt")
    static let updatedAt = PostgresIdentifier.quoted("updatedAt")
    /// Who may read and write; NULL is everybody.
    static let readers = PostgresIdentifier.quoted("_readers")
    static let writers = PostgresIdentifier.quoted("_writers")
    /// The fields that hold an explicit null; NULL in nearly every row.
    static let nulls = PostgresIdentifier.quoted("_nulls")
    /// The order of insertion.
    static let row = PostgresIdentifier.quoted("_row")
    /// Of a user: name and address without regard to case.
    static let usernameKey = PostgresIdentifier.quoted("_username_key")
    static let emailKey = PostgresIdentifier.quoted("_email_key")

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

    /// What PostgreSQL calls the type of its columns.
    var columnType: String {
        switch self {
        case .number, .geoPoint: "double precision"
        case .boolean: "boolean"
        case .date: "bigint"
        // Keeps the text as it is, unlike `jsonb`.
        case .array, .object, .polygon: "json"
        default: "text COLLATE \"C\""
        }
    }

    /// Whether its column is JSON text.
    var isStructured: Bool {
        switch self {
        case .array, .object, .polygon: true
        default: false
        }
    }
}
