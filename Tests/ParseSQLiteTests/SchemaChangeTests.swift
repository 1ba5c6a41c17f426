import JSON
import ParseCore
import ParseSQLite
import ParseWire
import Testing

@Suite struct SchemaChangeTests {
    @Test func `options, permissions and indexes are there after a new opening`() async throws {
        let test = try TestDatabase()
        let options = FieldOptions(
            isRequired: true,
            defaultValue: ["__type": "Date", "iso": "2026-01-01T00:00:00.000Z"]
        )
        let permissions = ClassPermissions(["find": ["*": true], "protectedFields": ["*": ["f"]]])
        let index = IndexDefinition(keys: ["f": 1, "objectId": -1])
        try await test.change(
            .addField(className: "C", field: "f", type: .date),
            .setOptions(className: "C", field: "f", options),
            .setPermissions(className: "C", permissions),
            .addIndex(className: "C", name: "'; DROP TABLE \"C\"\0", index)
        )
        func check(_ schema: ClassSchema?) {
            #expect(schema?.fieldOptions == ["f": options])
            #expect(schema?.permissions == permissions)
            #expect(schema?.indexes == ["'; DROP TABLE \"C\"\0": index])
        }
        check(test.storage.schema["C"])
        await test.storage.close()
        let again = try SQLiteAppStorage(path: test.path)
        check(again.schema["C"])
        let removal = WritePlan(
            schemaChanges: [
                .setOptions(className: "C", field: "f", FieldOptions()),
                .setPermissions(className: "C", nil),
                .removeIndex(className: "C", name: "'; DROP TABLE \"C\"\0"),
                .removeIndex(className: "C", name: "unknown"),
            ],
            steps: []
        )
        _ = try await again.write(removal)
        #expect(again.schema["C"]?.fieldOptions == [:])
        #expect(again.schema["C"]?.permissions == nil && again.schema["C"]?.indexes == [:])
    }

    @Test func `what changes nothing keeps the version`() async throws {
        let test = try TestDatabase()
        try await test.change(.addField(className: "C", field: "f", type: .string))
        let version = test.storage.schema.version
        try await test.change(
            .addClass("C"),
            .addField(className: "C", field: "f", type: .string),
            .removeField(className: "C", field: "unknown"),
            .removeField(className: "Unknown", field: "f"),
            .removeField(className: "C", field: "objectId"),
            .removeClass("Unknown"),
            .removeIndex(className: "C", name: "unknown"),
            .setOptions(className: "C", field: "unknown", FieldOptions(isRequired: true))
        )
        #expect(test.storage.schema.version == version)
    }

    @Test(arguments: [
        FieldType.string, .number, .pointer("D"), .geoPoint, .array, .object, .relation("D"), .polygon,
    ])
    func `a field that is removed takes its data along`(_ type: FieldType) async throws {
        let test = try TestDatabase()
        let value: FieldValue? =
            switch type {
            case .string: .string("x")
            case .number: .number(1)
            case .pointer: .pointer(className: "D", objectID: "d")
            case .geoPoint: .geoPoint(latitude: 1, longitude: 2)
            case .array: .array([1])
            case .object: .object(["a": 1])
            case .polygon: .polygon([[0, 0], [0, 1], [1, 1], [0, 0]])
            default: nil
            }
        try await test.store(
            "C",
            [("f", type), ("g", .string)],
            [
                TestDatabase.row("a", ["g": .string("x")]),
                TestDatabase.row("b", value.map { ["f": $0] } ?? [:]),
                TestDatabase.row("c", ["f": .null, "g": .null].filter { value != nil || $0.key == "g" }),
            ]
        )
        if value == nil { try await test.relate("C", "f", "a", ["d"]) }
        try await test.change(.addIndex(className: "C", name: "i", IndexDefinition(keys: ["g": 1, "f": 1])))
        try await test.change(.removeField(className: "C", field: "f"))
        #expect(test.storage.schema["C"]?.type(of: "f") == nil)
        #expect(test.storage.schema["C"]?.indexes == [:])
        let rest = [
            TestDatabase.row("a", ["g": .string("x")]), TestDatabase.row("b"),
            TestDatabase.row("c", ["g": .null]),
        ]
        #expect(try await test.find("C") == rest)
        // The same name again, with the same type: nothing of the old field is there.
        try await test.change(.addField(className: "C", field: "f", type: type))
        #expect(try await test.find("C") == rest)
        #expect(try await test.ids("C", .exists("f", true)) == [])
        let related = Predicate.equal("f", .pointer(className: "D", objectID: "d"))
        #expect(try await test.ids("C", related) == [])
        await test.storage.close()
        let again = try SQLiteAppStorage(path: test.path)
        #expect(try await again.find(RowQuery(className: "C", predicate: .everything)) == rest)
    }

    @Test func `a class that is removed takes all that belongs to it along`() async throws {
        let test = try TestDatabase()
        try await test.store("C", [("r", .relation("D")), ("p", .pointer("D"))], [TestDatabase.row("x")])
        try await test.relate("C", "r", "x", ["d"])
        try await test.change(.addIndex(className: "C", name: "i", IndexDefinition(keys: ["p": 1])))
        do {
            try await test.change(.addClass("New"), .removeClass("C"))
            Issue.record("nothing was refused")
        } catch StorageError.classNotEmpty(let name, let count) {
            #expect(name == "C" && count == 1)
        }
        #expect(test.storage.schema["C"] != nil && test.storage.schema["New"] == nil)
        try await test.write(.delete(RowDeletion(className: "C", predicate: .everything)))
        try await test.change(.removeClass("C"))
        #expect(test.storage.schema["C"] == nil)
        let left = try test.sql(
            """
            SELECT name FROM sqlite_schema WHERE name LIKE 'C%' OR name LIKE '%:C%'
            UNION ALL SELECT className FROM "$fields" WHERE className='C'
            UNION ALL SELECT className FROM "$indexes" WHERE className='C'
            """
        )
        #expect(left == [])
        do {
            _ = try await test.find("C")
            Issue.record("a class that is gone was found")
        } catch StorageError.unknownClass("C") {}
        try await test.store("C", [("r", .relation("D"))], [TestDatabase.row("x")])
        let linked = Predicate.equal("r", .pointer(className: "D", objectID: "d"))
        #expect(try await test.ids("C", linked) == [])
    }

    @Test func `a class that every app has comes back as new`() async throws {
        let test = try TestDatabase()
        try await test.change(.addField(className: "_Role", field: "extra", type: .string))
        try await test.change(.removeClass("_Role"))
        #expect(test.storage.schema["_Role"] == SystemClasses.schema(of: "_Role"))
        #expect(try await test.storage.roles(ofUser: "u") == [])
    }

    @Test(arguments: ["_Installation", "_Product", "_Idempotency", "_GlobalConfig"])
    func `a class of Parse's own has its fields when it is made`(_ className: String) async throws {
        let test = try TestDatabase()
        #expect(test.storage.schema[className] == nil)
        try await test.change(.addClass(className))
        #expect(test.storage.schema[className] == SystemClasses.schema(of: className))
    }

    @Test(arguments: [("_Role", "name"), ("_Installation", "installationId"), ("_Idempotency", "reqId")])
    func `a field that is unique in its class`(_ className: String, _ field: String) async throws {
        let test = try TestDatabase()
        let fields: [String: FieldValue] = [field: .string("x")]
        try await test.change(.addClass(className))
        try await test.write(
            .insert(className: className, TestDatabase.row("a", fields)),
            .insert(className: className, TestDatabase.row("b")),
            .insert(className: className, TestDatabase.row("c"))
        )
        do {
            try await test.write(.insert(className: className, TestDatabase.row("d", fields)))
            Issue.record("nothing was refused")
        } catch StorageError.duplicate(let value) {
            #expect(value == .field(className: className, field))
        }
        do {
            let change = RowUpdate(
                className: className,
                predicate: .id("b"),
                changes: [(field, .set(.string("x")))]
            )
            try await test.write(.update(change))
            Issue.record("nothing was refused")
        } catch StorageError.duplicate(let value) {
            #expect(value == .field(className: className, field))
        }
    }

    @Test func `an index is used, and refused where it cannot be`() async throws {
        let test = try TestDatabase()
        try await test.store(
            "C",
            [("n", .number), ("s", .string), ("g", .geoPoint), ("p", .pointer("D")), ("a", .array)],
            []
        )
        try await test.change(
            .addIndex(className: "C", name: "byNumber", IndexDefinition(keys: ["n": -1, "s": 1])),
            .addIndex(className: "C", name: "byPlace", IndexDefinition(keys: ["g": "2dsphere"])),
            .addIndex(className: "C", name: "byText", IndexDefinition(keys: ["s": "text"])),
            .addIndex(className: "C", name: "byPointer", IndexDefinition(keys: ["_p_p": 1])),
            .addIndex(className: "C", name: "byElement", IndexDefinition(keys: ["a": 1])),
            .addIndex(className: "C", name: "byNumber", IndexDefinition(keys: ["n": -1, "s": 1]))
        )
        #expect(test.storage.schema["C"]?.indexes.count == 5)
        func plan(_ predicate: Predicate, _ order: [SortKey] = []) async throws -> String {
            let query = RowQuery(className: "C", predicate: predicate, order: order)
            return try await test.storage.explain(query).description
        }
        #expect(try await plan(.equal("n", .number(1))).contains("USING INDEX C#client"))
        let near = Predicate.near("g", GeoPoint(latitude: 1, longitude: 1), maxRadians: 0.1)
        #expect(try await plan(near).contains("USING INDEX C#client"))
        #expect(
            try await plan(.equal("p", .pointer(className: "D", objectID: "d"))).contains("USING INDEX C#")
        )
        let newest = SortKey(field: "createdAt", isDescending: true)
        let list = try await plan(.everything, [newest])
        #expect(list.contains("USING INDEX C#createdAt") && !list.contains("TEMP B-TREE"))
        let refused: [(String, IndexDefinition, String)] = [
            ("byNumber", IndexDefinition(keys: ["n": 1]), "Index byNumber exists, cannot update."),
            ("new", IndexDefinition(keys: ["x": 1]), "Field x does not exist, cannot add index."),
        ]
        for (name, definition, message) in refused {
            do {
                try await test.change(.addIndex(className: "C", name: name, definition))
                Issue.record("nothing was refused")
            } catch StorageError.refused(let error) {
                #expect(error == ParseError(.invalidQuery, message))
            }
        }
        try await test.change(.removeIndex(className: "C", name: "byNumber"))
        #expect(try await plan(.equal("n", .number(1))).contains("SCAN"))
    }

    @Test func `a write that was made before a field went is refused`() async throws {
        let test = try TestDatabase()
        try await test.store("C", [("f", .string), ("r", .relation("D"))], [TestDatabase.row("x")])
        try await test.change(
            .removeField(className: "C", field: "f"),
            .removeField(className: "C", field: "r")
        )
        let steps: [WriteStep] = [
            .insert(className: "C", TestDatabase.row("y", ["f": .string("a")])),
            .update(
                RowUpdate(
                    className: "C",
                    predicate: .id("x"),
                    changes: [("f", .set(.string("a")))],
                    returnsRow: false
                )
            ),
            .update(RowUpdate(className: "C", predicate: .id("x"), changes: [("f", .set(.string("a")))])),
            .relate(
                RelationChange(className: "C", field: "r", ownerID: "x", relatedIDs: ["d"], isRemoval: false)
            ),
        ]
        for step in steps {
            do {
                try await test.write(step)
                Issue.record("nothing was refused")
            } catch StorageError.refused(let error) {
                #expect(error.code == .schemaOperation)
            }
        }
    }

    @Test func `reads go on while fields come and go`() async throws {
        let test = try TestDatabase()
        try await test.store("C", [("f", .string)], (0..<50).map { TestDatabase.row("r\($0)") })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<40 {
                    try await test.change(.removeField(className: "C", field: "f"))
                    try await test.change(.addField(className: "C", field: "f", type: .number))
                    try await test.change(.removeField(className: "C", field: "f"))
                    try await test.change(.addField(className: "C", field: "f", type: .string))
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        let found = try await test.find("C", .notEqual("f", .string("x")))
                        #expect(found.count == 50)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
