import Foundation
import JSON
import ParseCore
import ParseSQLite
import ParseWire

/// Changes the schema of a database without end, until somebody kills it; for the tests of what is left then.
@main enum StorageWorkload {
    static func main() async throws {
        let storage = try SQLiteAppStorage(path: CommandLine.arguments[1])
        var number = 0
        while true {
            try await change(storage, number)
            number += 1
            print("step \(number)")
            fflush(nil)
        }
    }

    private static func change(_ storage: SQLiteAppStorage, _ number: Int) async throws {
        let className = "C\(number % 3)"
        let now = Timestamp(milliseconds: Int64(number))
        let row = StoredRow(
            objectID: "r\(number)",
            createdAt: now,
            updatedAt: now,
            fields: ["n": .number(Double(number)), "p": .pointer(className: "D", objectID: "d")]
        )
        _ = try await storage.write(
            WritePlan(
                schemaChanges: [
                    .addField(className: className, field: "n", type: .number),
                    .addField(className: className, field: "p", type: .pointer("D")),
                    .addField(className: className, field: "r", type: .relation("D")),
                    .addIndex(className: className, name: "i", IndexDefinition(keys: ["n": -1, "p": 1])),
                    .setPermissions(className: className, ClassPermissions(["find": ["*": true]])),
                ],
                steps: [
                    .insert(className: className, row),
                    .relate(
                        RelationChange(
                            className: className,
                            field: "r",
                            ownerID: row.objectID,
                            relatedIDs: ["d", "e"],
                            isRemoval: false
                        )
                    ),
                ]
            )
        )
        let removal: [SchemaChange] =
            number.isMultiple(of: 2)
            ? [
                .removeField(className: className, field: "n"),
                .removeField(className: className, field: "r"),
            ]
            : []
        _ = try await storage.write(
            WritePlan(
                schemaChanges: removal,
                steps: [.delete(RowDeletion(className: className, predicate: .everything))]
            )
        )
        guard number.isMultiple(of: 5) else { return }
        _ = try await storage.write(WritePlan(schemaChanges: [.removeClass(className)], steps: []))
    }
}
