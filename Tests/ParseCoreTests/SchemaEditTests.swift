import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct SchemaEditTests {
    private static let game = ClassSchema(
        className: "Game",
        fields: SystemClasses.commonFields + [
            ("score", .number), ("name", .string), ("at", .geoPoint), ("owner", .pointer("_User")),
            ("fans", .relation("_User")),
        ],
        fieldOptions: ["score": FieldOptions(isRequired: true)],
        indexes: ["byScore": IndexDefinition(keys: ["score": 1])]
    )

    private func edit(_ text: String, of schema: ClassSchema? = SchemaEditTests.game) throws -> SchemaEdit {
        let body = try SchemaBody(try #require(try JSONValue.parse(text).objectValue))
        guard let schema else { return try SchemaEdit(body, making: "Fresh", AppOptions()) }
        return try SchemaEdit(body, of: schema, AppOptions())
    }

    @Test(arguments: [
        (#"{"1a":{"type":"String"}}"#, 105, "invalid field name: 1a"),
        (#"{"_a":{"type":"String"}}"#, 105, "invalid field name: _a"),
        (#"{"length":{"type":"Number"}}"#, 105, "invalid field name: length"),
        (#"{"x":{"type":"Pointer"}}"#, 135, "type Pointer needs a class name"),
        (#"{"x":{"type":"Relation","targetClass":""}}"#, 135, "type Relation needs a class name"),
        (#"{"x":{"type":"Pointer","targetClass":5}}"#, 107, "invalid JSON"),
        (#"{"x":{"type":5}}"#, 107, "invalid JSON"),
        (#"{"x":{}}"#, 107, "invalid JSON"),
        (#"{"x":"String"}"#, 107, "invalid JSON"),
        (#"{"x":null}"#, 107, "invalid JSON"),
        (#"{"x":{"type":"String","required":"yes"}}"#, 107, "invalid JSON"),
        (
            #"{"x":{"type":"Pointer","targetClass":"1b"}}"#, 103,
            "Invalid classname: 1b, classnames can only have alphanumeric characters and _, and must start with "
                + "an alpha character "
        ),
        (#"{"x":{"type":"Nope"}}"#, 111, "invalid field type: Nope"),
        (#"{"x":{"type":"ACL"}}"#, 111, "invalid field type: ACL"),
        (
            #"{"x":{"type":"Number","defaultValue":"a"}}"#, 111,
            "schema mismatch for Fresh.x default value; expected Number but got String"
        ),
        (
            #"{"x":{"type":"Pointer","targetClass":"A","defaultValue":{"__type":"Pointer","className":"B","objectId":"i"}}}"#,
            111, "schema mismatch for Fresh.x default value; expected Pointer<A> but got Pointer<B>"
        ),
        (
            #"{"x":{"type":"Number","defaultValue":{"__op":"Increment","amount":1}}}"#, 111,
            "schema mismatch for Fresh.x default value; expected Number but got Number"
        ),
        (#"{"x":{"type":"Number","defaultValue":{"__op":"Delete"}}}"#, 107, "invalid JSON"),
        (
            #"{"x":{"type":"Relation","targetClass":"A","defaultValue":1}}"#, 111,
            "The 'default value' option is not applicable for Relation<A>"
        ),
        (
            #"{"x":{"type":"Relation","targetClass":"A","required":true}}"#, 111,
            "The 'required' option is not applicable for Relation<A>"
        ),
        (
            #"{"a":{"type":"GeoPoint"},"b":{"type":"GeoPoint"}}"#, 111,
            "currently, only one GeoPoint field may exist in an object. Adding b when a already exists."
        ),
        (#"{"objectId":{"type":"String"}}"#, 136, "field objectId cannot be added"),
        (#"{"ACL":{"type":"ACL"}}"#, 136, "field ACL cannot be added"),
        (#"{"x":{"__op":"Delete"}}"#, 107, "invalid JSON"),
    ])
    func `a new class cannot have such fields`(_ fields: String, _ code: Int, _ text: String) {
        expectRefusalNow(ParseErrorCode(rawValue: code), text) {
            _ = try edit("{\"fields\":\(fields)}", of: nil)
        }
    }

    @Test(arguments: [
        (#"{"nope":{"__op":"Delete"}}"#, 255, "Field nope does not exist, cannot delete."),
        (#"{"score":{"type":"String"}}"#, 255, "Field score exists, cannot update."),
        (#"{"score":{}}"#, 255, "Field score exists, cannot update."),
        (#"{"objectId":{"__op":"Delete"}}"#, 136, "field objectId cannot be changed"),
        (
            #"{"owner":{"type":"Pointer","targetClass":"Game"}}"#, 111,
            "schema mismatch for Game.owner; expected Pointer<_User> but got Pointer<Game>"
        ),
        (
            #"{"score":{"type":"Number","defaultValue":"a"}}"#, 111,
            "schema mismatch for Game.score default value; expected Number but got String"
        ),
        (
            #"{"b":{"type":"GeoPoint"}}"#, 111,
            "currently, only one GeoPoint field may exist in an object. Adding b when at already exists."
        ),
        (#"{"objectId":{"type":"String","required":true}}"#, 136, "field objectId cannot be changed"),
        (#"{"x y":{"type":"String"}}"#, 105, "invalid field name: x y"),
    ])
    func `a class that is there cannot be changed so`(_ fields: String, _ code: Int, _ text: String) {
        expectRefusalNow(ParseErrorCode(rawValue: code), text) { _ = try edit("{\"fields\":\(fields)}") }
    }

    @Test func `a system column is neither defined nor dropped, and another field is`() throws {
        let users = SystemClasses.schema(of: "_User")
        expectRefusalNow(.unchangeableField, "field email cannot be changed") {
            _ = try edit(#"{"fields":{"email":{"__op":"Delete"}}}"#, of: users)
        }
        expectRefusalNow(.unchangeableField, "field email cannot be changed") {
            _ = try edit(#"{"fields":{"email":{"type":"String","required":true}}}"#, of: users)
        }
        let body = try SchemaBody(["fields": ["name": ["type": "String"]]])
        expectRefusalNow(.unchangeableField, "field name cannot be added") {
            _ = try SchemaEdit(body, making: "_Role", AppOptions())
        }
        #expect(
            try edit(#"{"fields":{"email":{"type":"String"},"phone":{"type":"String"}}}"#, of: users).changes
                == [.addField(className: "_User", field: "phone", type: .string)]
        )
    }

    @Test func `fields go before fields come, and with a field its indexes and options`() throws {
        let edit = try edit(
            #"{"fields":{"x":{"type":"GeoPoint"},"at":{"__op":"Delete"},"score":{"__op":"Delete"}}}"#
        )
        #expect(
            edit.changes == [
                .removeField(className: "Game", field: "at"),
                .removeIndex(className: "Game", name: "byScore"),
                .removeField(className: "Game", field: "score"),
                .addField(className: "Game", field: "x", type: .geoPoint),
            ]
        )
        #expect(edit.result.type(of: "score") == nil && edit.result.fieldOptions["score"] == nil)
        #expect(edit.result.indexes.isEmpty)
    }

    @Test func `the same type with other options changes the options, with none takes them off`() throws {
        let options = FieldOptions(isRequired: false, defaultValue: 5)
        #expect(
            try edit(#"{"fields":{"score":{"type":"Number","defaultValue":5}}}"#).changes
                == [.setOptions(className: "Game", field: "score", options)]
        )
        #expect(
            try edit(#"{"fields":{"score":{"type":"Number"}}}"#).changes
                == [.setOptions(className: "Game", field: "score", FieldOptions())]
        )
        #expect(try edit(#"{"fields":{"score":{"type":"Number","required":true}}}"#).changes.isEmpty)
        #expect(try edit(#"{"fields":{"name":{"type":"String","defaultValue":null}}}"#).changes.isEmpty)
    }

    @Test func `a class has only so many fields`() throws {
        var fields = JSONObject()
        for index in 0..<(ObjectBody.fieldLimit - SystemClasses.commonFields.count) {
            fields.append("f\(index)", ["type": "String"])
        }
        let body = try SchemaBody(["fields": .object(fields)])
        let full = try SchemaEdit(body, making: "Wide", AppOptions()).result
        #expect(full.fieldNames.count == ObjectBody.fieldLimit)
        let more = try SchemaBody(["fields": ["more": ["type": "String"]]])
        expectRefusalNow(.exceededQuota, "The class Wide cannot have more than 1000 fields.") {
            _ = try SchemaEdit(more, of: full, AppOptions())
        }
    }

    @Test func `permissions may name fields that come with them, and none that go`() throws {
        let text =
            #"{"fields":{"x":{"type":"Array"}},"classLevelPermissions":{"get":{"pointerFields":["x"]}}}"#
        #expect(try edit(text).result.permissions?.rules[.get]?.pointerFields == ["x"])
        expectRefusalNow(.invalidJSON, "Field 'name' in protectedFields:* does not exist") {
            _ = try edit(
                #"{"fields":{"name":{"__op":"Delete"}},"classLevelPermissions":{"protectedFields":{"*":["name"]}}}"#
            )
        }
    }

    @Test func `permissions are replaced, taken back by null, and left alone when absent`() throws {
        let set = try edit(#"{"classLevelPermissions":{"find":{"*":true}}}"#)
        #expect(set.result.permissions?.rules[.create]?.keys.isEmpty == true)
        let back = try edit(#"{"classLevelPermissions":null}"#, of: set.result)
        #expect(back.changes == [.setPermissions(className: "Game", nil)])
        #expect(try edit("{}", of: set.result).changes.isEmpty)
        expectRefusalNow(.invalidJSON, "invalid JSON") {
            _ = try edit(#"{"classLevelPermissions":"open"}"#)
        }
    }

    @Test(arguments: [
        (#"{"byScore":{"score":1}}"#, "Index byScore exists, cannot update."),
        (#"{"_id_":{"_id":1}}"#, "Index _id_ exists, cannot update."),
        (#"{"_id_":{"__op":"Delete"}}"#, "Index _id_ cannot be deleted."),
        (#"{"other":{"__op":"Delete"}}"#, "Index other does not exist, cannot delete."),
        (#"{"i":{"nope":1}}"#, "Field nope does not exist, cannot add index."),
        (#"{"i":{"name.a":1}}"#, "Field name.a does not exist, cannot add index."),
        (#"{"i":{"fans":1}}"#, "Field fans does not exist, cannot add index."),
        (#"{"i":{"ACL":1}}"#, "Field ACL does not exist, cannot add index."),
        (#"{"i":{"_p_name":1}}"#, "Field _p_name does not exist, cannot add index."),
        (#"{"i":{"score":2}}"#, "Index i cannot be 2 on score."),
        (#"{"i":{"score":"text"}}"#, "Index i cannot be text on score."),
        (#"{"i":{"name":"2dsphere"}}"#, "Index i cannot be 2dsphere on name."),
        (#"{"i":{"owner":1,"_p_owner":1}}"#, "Index i has the field owner twice."),
        (#"{"i":{}}"#, "Index i must have from 1 to 32 fields."),
        (#"{"":{"name":1}}"#, "Index names have from 1 to 255 bytes and no control characters."),
        (#"{"a\u0000":{"name":1}}"#, "Index names have from 1 to 255 bytes and no control characters."),
    ])
    func `such an index cannot be`(_ indexes: String, _ text: String) {
        expectRefusalNow(.invalidQuery, text) { _ = try edit("{\"indexes\":\(indexes)}") }
    }

    @Test func `indexes come and go`() throws {
        let edit = try edit(
            #"{"indexes":{"byScore":{"__op":"Delete"},"i":{"_p_owner":1,"createdAt":-1},"words":{"name":"text"}}}"#
        )
        #expect(
            edit.changes == [
                .removeIndex(className: "Game", name: "byScore"),
                .addIndex(
                    className: "Game",
                    name: "i",
                    IndexDefinition(keys: ["owner": 1, "createdAt": -1])
                ),
                .addIndex(className: "Game", name: "words", IndexDefinition(keys: ["name": "text"])),
            ]
        )
        let password = SystemClasses.schema(of: "_User")
        expectRefusalNow(.invalidQuery, "Field password does not exist, cannot add index.") {
            _ = try self.edit(#"{"indexes":{"i":{"password":1}}}"#, of: password)
        }
    }

    @Test func `a class has only so many indexes`() throws {
        var indexes = JSONObject()
        for index in 0..<IndexEdits.countLimit { indexes.append("i\(index)", ["createdAt": 1]) }
        let body = try SchemaBody(["indexes": .object(indexes)])
        let full = try SchemaEdit(body, making: "Wide", AppOptions()).result
        expectRefusalNow(.exceededQuota, "The class Wide cannot have more than 63 indexes.") {
            _ = try edit(#"{"indexes":{"more":{"createdAt":1}}}"#, of: full)
        }
    }
}

@Suite struct SchemaViewTests {
    @Test func `a class shows fields, open permissions and no indexes`() {
        let view = SchemaView.object(
            of: ClassSchema(
                className: "Game",
                fields: [("owner", .pointer("_User")), ("n", .number)],
                fieldOptions: ["n": FieldOptions(isRequired: true, defaultValue: 0)]
            )
        )
        #expect(
            view == [
                "className": "Game",
                "fields": [
                    "owner": ["type": "Pointer", "targetClass": "_User"],
                    "n": ["type": "Number", "required": true, "defaultValue": 0],
                ],
                "classLevelPermissions": .object(SchemaView.openPermissions),
            ]
        )
    }

    @Test func `beside an index the one of the ids is shown`() {
        let index = IndexDefinition(keys: ["n": -1])
        let schema = ClassSchema(className: "Game", fields: [("n", .number)], indexes: ["byN": index])
        #expect(SchemaView.object(of: schema)["indexes"] == ["_id_": ["_id": 1], "byN": ["n": -1]])
    }
}

@Suite struct SchemaBodyTests {
    @Test(arguments: [
        (#"{"className":"B"}"#, "A", "Class name mismatch between B and A."),
        (#"{"className":5}"#, "5", "Class name mismatch between 5 and 5."),
    ])
    func `body and path name one class`(_ text: String, _ path: String, _ message: String) throws {
        let body = try #require(try JSONValue.parse(text).objectValue)
        expectRefusalNow(.invalidClassName, message) { _ = try SchemaBody.className(body, path: path) }
    }

    @Test func `a name comes from the path or from the body`() throws {
        #expect(try SchemaBody.className(["className": "A"], path: nil) == "A")
        #expect(try SchemaBody.className(["className": "A"], path: "A") == "A")
        #expect(try SchemaBody.className(["className": ""], path: "A") == "A")
        #expect(try SchemaBody.className([:], path: nil) == nil)
    }

    @Test(arguments: [#"{"fields":[]}"#, #"{"fields":"x"}"#, #"{"indexes":1}"#])
    func `parts that are no objects are refused`(_ text: String) throws {
        let body = try #require(try JSONValue.parse(text).objectValue)
        expectRefusalNow(.invalidJSON, "invalid JSON") { _ = try SchemaBody(body) }
    }
}
