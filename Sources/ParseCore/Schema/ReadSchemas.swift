package import JSON

/// All classes of the app (Parse REST guide, "Schema").
package struct ReadSchemas: Sendable {
    package init() {}

    package func run(in context: RequestContext) throws(ParseError) -> JSONObject {
        try context.requireMaster()
        let schema = context.app.storage.schema
        let classes = schema.classNames.compactMap { schema[$0] }
        return ["results": .array(classes.map { .object(SchemaView.object(of: $0)) })]
    }
}

/// One class of the app; the server's own can be read before they are ever used.
package struct ReadSchema: Sendable {
    package let className: String

    package init(className: String) {
        self.className = className
    }

    package func run(in context: RequestContext) throws(ParseError) -> JSONObject {
        try context.requireMaster()
        if let schema = context.app.storage.schema[className] { return SchemaView.object(of: schema) }
        guard SystemClasses.volatile.contains(className) else { throw .unknownClass(className) }
        return SchemaView.object(of: SystemClasses.schema(of: className))
    }
}
