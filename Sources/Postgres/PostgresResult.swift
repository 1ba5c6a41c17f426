import CPQ

/// The rows a statement answered, or how many it changed.
///
/// Columns count from 0, in binary form. An accessor of another type than the column's throws
/// ``PostgresError/Kind/misuse``: somebody may have changed a table by hand.
// SAFETY: libpq does not change a result after it was made, reading it needs no lock, and only `deinit` frees it.
package final class PostgresResult: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Takes the result over.
    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit { PQclear(handle) }

    package var rowCount: Int { Int(PQntuples(handle)) }

    package var columnCount: Int { Int(PQnfields(handle)) }

    /// How many rows were inserted, changed, deleted or selected.
    package var affectedRows: Int {
        PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The kind of statement, with its counts, such as `INSERT 0 1`.
    var commandTag: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    package var rows: some Sequence<PostgresRow> {
        (0..<rowCount).lazy.map { PostgresRow(result: self, index: $0) }
    }

    package var first: PostgresRow? { rowCount > 0 ? PostgresRow(result: self, index: 0) : nil }

    package subscript(row: Int) -> PostgresRow {
        precondition(row >= 0 && row < rowCount, "The result has no row at this position.")
        return PostgresRow(result: self, index: row)
    }

    fileprivate func type(_ column: Int) -> PostgresType {
        precondition(column >= 0 && column < columnCount, "The result has no column at this position.")
        return PostgresType(rawValue: PQftype(handle, Int32(column)))
    }

    /// Lends the bytes of a value; `nil` for NULL.
    fileprivate func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(handle, Int32(row), Int32(column)) == 0,
            let start = PQgetvalue(handle, Int32(row), Int32(column))
        else { return nil }
        // SAFETY: valid as long as the result, which every caller holds on to while it uses them.
        return UnsafeRawBufferPointer(
            start: start,
            count: Int(PQgetlength(handle, Int32(row), Int32(column)))
        )
    }
}

/// A row of a result.
package struct PostgresRow: Sendable {
    fileprivate let result: PostgresResult
    fileprivate let index: Int

    package func isNull(_ column: Int) -> Bool {
        _ = result.type(column)
        return result.bytes(index, column) == nil
    }

    package func bool(_ column: Int) throws(PostgresError) -> Bool? {
        try value(column, [.bool]) { $0.first.map { $0 != 0 } }
    }

    package func integer(_ column: Int) throws(PostgresError) -> Int64? {
        try value(column, [.int8, .int4, .int2, .oid]) { bytes in
            switch bytes.count {
            case 8: Int64(bitPattern: bytes.bigEndian())
            case 4:
                result.type(column) == .oid
                    ? Int64(bytes.bigEndian() as UInt32) : Int64(Int32(bitPattern: bytes.bigEndian()))
            case 2: Int64(Int16(bitPattern: bytes.bigEndian()))
            default: nil
            }
        }
    }

    package func double(_ column: Int) throws(PostgresError) -> Double? {
        try value(column, [.float8, .float4]) { bytes in
            switch bytes.count {
            case 8: Double(bitPattern: bytes.bigEndian())
            case 4: Double(Float(bitPattern: bytes.bigEndian()))
            default: nil
            }
        }
    }

    /// Text, JSON as text too.
    package func text(_ column: Int) throws(PostgresError) -> String? {
        try withText(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Lends the UTF-8 bytes of a text or JSON value without copying them; `nil` for NULL.
    package func withText<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(PostgresError) -> R?
    {
        let isBinaryJSON = result.type(column) == .jsonb
        return try value(column, PostgresType.texts) { bytes in
            // A version number stands before the text of a jsonb.
            body(isBinaryJSON ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) : bytes)
        }
    }

    package func bytes(_ column: Int) throws(PostgresError) -> [UInt8]? {
        try value(column, [.bytea]) { [UInt8]($0) }
    }

    /// An array of texts without NULLs.
    package func textArray(_ column: Int) throws(PostgresError) -> [String]? {
        try value(column, [.textArray, .varcharArray, .nameArray]) { TextArrayDecoder.decode($0) }
    }

    private func value<R>(
        _ column: Int,
        _ types: [PostgresType],
        _ decode: (UnsafeRawBufferPointer) -> R?
    ) throws(PostgresError) -> R? {
        let type = result.type(column)
        guard types.contains(type) else {
            throw PostgresError(.misuse, "column \(column) is of the unexpected type \(type.rawValue)")
        }
        guard let bytes = result.bytes(index, column) else { return nil }
        guard let value = withExtendedLifetime(result, { decode(bytes) }) else {
            throw PostgresError(.misuse, "a value in column \(column) cannot be decoded")
        }
        return value
    }
}

/// The built-in types we read, by their object identifiers, which never change.
struct PostgresType: RawRepresentable, Hashable {
    let rawValue: UInt32

    static let bool = PostgresType(rawValue: 16)
    static let bytea = PostgresType(rawValue: 17)
    static let int8 = PostgresType(rawValue: 20)
    static let int2 = PostgresType(rawValue: 21)
    static let int4 = PostgresType(rawValue: 23)
    static let oid = PostgresType(rawValue: 26)
    static let float4 = PostgresType(rawValue: 700)
    static let float8 = PostgresType(rawValue: 701)
    static let jsonb = PostgresType(rawValue: 3802)
    static let nameArray = PostgresType(rawValue: 1003)
    static let textArray = PostgresType(rawValue: 1009)
    static let varcharArray = PostgresType(rawValue: 1015)
    /// text, name, json, unknown, character, character varying and jsonb.
    static let texts = [25, 19, 114, 705, 1042, 1043, 3802].map { PostgresType(rawValue: $0) }
}

/// Reads the binary form of a one-dimensional array: dimensions, a flag, the type, length and lower bound, then
/// each element with its length.
private enum TextArrayDecoder {
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [String]? {
        guard bytes.count >= 12 else { return nil }
        let dimensions: UInt32 = bytes.bigEndian()
        if dimensions == 0 { return [] }
        guard dimensions == 1, bytes.count >= 20 else { return nil }
        let count = Int(bytes.bigEndian(at: 12) as UInt32)
        guard count <= bytes.count / 4 else { return nil }
        var elements: [String] = []
        elements.reserveCapacity(count)
        var position = 20
        for _ in 0..<count {
            guard position + 4 <= bytes.count else { return nil }
            let length = Int(Int32(bitPattern: bytes.bigEndian(at: position)))
            position += 4
            guard length >= 0, position + length <= bytes.count else { return nil }
            elements.append(String(decoding: bytes[position..<position + length], as: UTF8.self))
            position += length
        }
        return elements
    }
}

extension UnsafeRawBufferPointer {
    /// A number in network order; the caller has checked that it is there.
    fileprivate func bigEndian<T: FixedWidthInteger>(at offset: Int = 0) -> T {
        T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }
}
