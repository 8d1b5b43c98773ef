package syntax

import (
	"fmt"

	sitter "github.com/smacker/go-tree-sitter"
)

// Kind is what a node of the tree is. The names are those of the grammar.
type Kind uint8

// The kinds of nodes. Error is text that could not be parsed; Operator is the
// token of a unary, binary, boolean, comparison or augmented operator.
const (
	Invalid Kind = iota
	Error
	Operator
	Module
	Block
	ExpressionStatement
	Assignment
	AugmentedAssignment
	ReturnStatement
	DeleteStatement
	RaiseStatement
	PassStatement
	BreakStatement
	ContinueStatement
	GlobalStatement
	NonlocalStatement
	AssertStatement
	ImportStatement
	ImportFromStatement
	FutureImportStatement
	WildcardImport
	AliasedImport
	DottedName
	RelativeImport
	ImportPrefix
	PrintStatement
	Chevron
	ExecStatement
	TypeAliasStatement
	IfStatement
	ElifClause
	ElseClause
	MatchStatement
	CaseClause
	CasePattern
	ForStatement
	WhileStatement
	TryStatement
	ExceptClause
	ExceptGroupClause
	FinallyClause
	WithStatement
	WithClause
	WithItem
	FunctionDefinition
	ClassDefinition
	DecoratedDefinition
	Decorator
	Parameters
	LambdaParameters
	DefaultParameter
	TypedParameter
	TypedDefaultParameter
	ListSplatPattern
	DictionarySplatPattern
	PositionalSeparator
	KeywordSeparator
	TypeParameter
	Type
	SplatType
	GenericType
	UnionType
	ConstrainedType
	MemberType
	PatternList
	TuplePattern
	ListPattern
	AsPattern
	AsPatternTarget
	UnionPattern
	DictPattern
	KeywordPattern
	SplatPattern
	ClassPattern
	ComplexPattern
	ExpressionList
	NamedExpression
	ConditionalExpression
	Lambda
	BooleanOperator
	NotOperator
	ComparisonOperator
	BinaryOperator
	UnaryOperator
	Await
	Yield
	Call
	ArgumentList
	KeywordArgument
	ListSplat
	DictionarySplat
	ParenthesizedListSplat
	Attribute
	Subscript
	Slice
	ParenthesizedExpression
	Tuple
	List
	Set
	Dictionary
	Pair
	ListComprehension
	DictionaryComprehension
	SetComprehension
	GeneratorExpression
	ForInClause
	IfClause
	Identifier
	Integer
	Float
	String
	ConcatenatedString
	StringStart
	StringContent
	StringEnd
	EscapeSequence
	EscapeInterpolation
	Interpolation
	FormatSpecifier
	FormatExpression
	TypeConversion
	True
	False
	None
	Ellipsis
	LineContinuation
	Comment
	kindCount
)

var kindNames = [kindCount]string{
	Invalid: "invalid", Error: "ERROR", Operator: "operator", Module: "module", Block: "block",
	ExpressionStatement: "expression_statement", Assignment: "assignment", AugmentedAssignment: "augmented_assignment",
	ReturnStatement: "return_statement", DeleteStatement: "delete_statement", RaiseStatement: "raise_statement",
	PassStatement: "pass_statement", BreakStatement: "break_statement", ContinueStatement: "continue_statement",
	GlobalStatement: "global_statement", NonlocalStatement: "nonlocal_statement", AssertStatement: "assert_statement",
	ImportStatement: "import_statement", ImportFromStatement: "import_from_statement", FutureImportStatement: "future_import_statement",
	WildcardImport: "wildcard_import", AliasedImport: "aliased_import", DottedName: "dotted_name", RelativeImport: "relative_import",
	ImportPrefix: "import_prefix", PrintStatement: "print_statement", Chevron: "chevron", ExecStatement: "exec_statement",
	TypeAliasStatement: "type_alias_statement", IfStatement: "if_statement", ElifClause: "elif_clause", ElseClause: "else_clause",
	MatchStatement: "match_statement", CaseClause: "case_clause", CasePattern: "case_pattern", ForStatement: "for_statement",
	WhileStatement: "while_statement", TryStatement: "try_statement", ExceptClause: "except_clause", ExceptGroupClause: "except_group_clause",
	FinallyClause: "finally_clause", WithStatement: "with_statement", WithClause: "with_clause", WithItem: "with_item",
	FunctionDefinition: "function_definition", ClassDefinition: "class_definition", DecoratedDefinition: "decorated_definition",
	Decorator: "decorator", Parameters: "parameters", LambdaParameters: "lambda_parameters", DefaultParameter: "default_parameter",
	TypedParameter: "typed_parameter", TypedDefaultParameter: "typed_default_parameter", ListSplatPattern: "list_splat_pattern",
	DictionarySplatPattern: "dictionary_splat_pattern", PositionalSeparator: "positional_separator", KeywordSeparator: "keyword_separator",
	TypeParameter: "type_parameter", Type: "type", SplatType: "splat_type", GenericType: "generic_type", UnionType: "union_type",
	ConstrainedType: "constrained_type", MemberType: "member_type", PatternList: "pattern_list", TuplePattern: "tuple_pattern",
	ListPattern: "list_pattern", AsPattern: "as_pattern", AsPatternTarget: "as_pattern_target", UnionPattern: "union_pattern",
	DictPattern: "dict_pattern", KeywordPattern: "keyword_pattern", SplatPattern: "splat_pattern", ClassPattern: "class_pattern",
	ComplexPattern: "complex_pattern", ExpressionList: "expression_list", NamedExpression: "named_expression",
	ConditionalExpression: "conditional_expression", Lambda: "lambda", BooleanOperator: "boolean_operator", NotOperator: "not_operator",
	ComparisonOperator: "comparison_operator", BinaryOperator: "binary_operator", UnaryOperator: "unary_operator", Await: "await",
	Yield: "yield", Call: "call", ArgumentList: "argument_list", KeywordArgument: "keyword_argument", ListSplat: "list_splat",
	DictionarySplat: "dictionary_splat", ParenthesizedListSplat: "parenthesized_list_splat", Attribute: "attribute",
	Subscript: "subscript", Slice: "slice", ParenthesizedExpression: "parenthesized_expression", Tuple: "tuple", List: "list",
	Set: "set", Dictionary: "dictionary", Pair: "pair", ListComprehension: "list_comprehension",
	DictionaryComprehension: "dictionary_comprehension", SetComprehension: "set_comprehension", GeneratorExpression: "generator_expression",
	ForInClause: "for_in_clause", IfClause: "if_clause", Identifier: "identifier",
	Integer: "integer", Float: "float", String: "string", ConcatenatedString: "concatenated_string", StringStart: "string_start",
	StringContent: "string_content", StringEnd: "string_end", EscapeSequence: "escape_sequence", EscapeInterpolation: "escape_interpolation",
	Interpolation: "interpolation", FormatSpecifier: "format_specifier", FormatExpression: "format_expression",
	TypeConversion: "type_conversion", True: "true", False: "false", None: "none", Ellipsis: "ellipsis",
	LineContinuation: "line_continuation", Comment: "comment",
}

// String is the name of the kind in the grammar.
func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Field is the role of a node in its parent.
type Field uint8

// The roles of the grammar.
const (
	NoField Field = iota
	FieldAlias
	FieldAlternative
	FieldArgument
	FieldArguments
	FieldAttribute
	FieldBody
	FieldCause
	FieldCode
	FieldCondition
	FieldConsequence
	FieldDefinition
	FieldExpression
	FieldFormatSpecifier
	FieldFunction
	FieldGuard
	FieldKey
	FieldLeft
	FieldModuleName
	FieldName
	FieldObject
	FieldOperator
	FieldOperators
	FieldParameters
	FieldReturnType
	FieldRight
	FieldSubject
	FieldSubscript
	FieldSuperclasses
	FieldType
	FieldTypeConversion
	FieldTypeParameters
	FieldValue
	fieldCount
)

var fieldNames = [fieldCount]string{
	NoField: "", FieldAlias: "alias", FieldAlternative: "alternative", FieldArgument: "argument", FieldArguments: "arguments",
	FieldAttribute: "attribute", FieldBody: "body", FieldCause: "cause", FieldCode: "code", FieldCondition: "condition",
	FieldConsequence: "consequence", FieldDefinition: "definition", FieldExpression: "expression",
	FieldFormatSpecifier: "format_specifier", FieldFunction: "function", FieldGuard: "guard", FieldKey: "key", FieldLeft: "left",
	FieldModuleName: "module_name", FieldName: "name", FieldObject: "object", FieldOperator: "operator", FieldOperators: "operators",
	FieldParameters: "parameters", FieldReturnType: "return_type", FieldRight: "right", FieldSubject: "subject",
	FieldSubscript: "subscript", FieldSuperclasses: "superclasses", FieldType: "type", FieldTypeConversion: "type_conversion",
	FieldTypeParameters: "type_parameters", FieldValue: "value",
}

// String is the name of the role in the grammar, or empty.
func (f Field) String() string {
	if f < fieldCount {
		return fieldNames[f]
	}
	return fmt.Sprintf("field(%d)", uint8(f))
}

// grammar translates the numbers of one version of the tree-sitter grammar,
// which change with every version, into ours, which do not.
type grammar struct {
	language *sitter.Language
	kinds    []Kind  // by symbol
	fields   []Field // by field id
}

// newGrammar resolves every symbol and field of language by its name. It fails
// on a name that this package does not know, so that a new version of the
// grammar cannot be used by accident.
func newGrammar(language *sitter.Language) (*grammar, error) {
	kinds := make(map[string]Kind, kindCount)
	for k := Error; k < kindCount; k++ {
		kinds[kindNames[k]] = k
	}
	fields := make(map[string]Field, fieldCount)
	for f := FieldAlias; f < fieldCount; f++ {
		fields[fieldNames[f]] = f
	}
	g := &grammar{language: language, kinds: make([]Kind, language.SymbolCount())}
	for s := range g.kinds {
		symbol := sitter.Symbol(s)
		name := language.SymbolName(symbol)
		switch language.SymbolType(symbol) {
		case sitter.SymbolTypeAnonymous:
			g.kinds[s] = Operator
		case sitter.SymbolTypeRegular:
			k, ok := kinds[name]
			if !ok && !supertypes[name] {
				return nil, fmt.Errorf("grammar has the unknown symbol %q", name)
			}
			g.kinds[s] = k
		}
	}
	g.fields = append(g.fields, NoField)
	for id := 1; ; id++ {
		name := language.FieldName(id)
		if name == "" {
			break
		}
		f, ok := fields[name]
		if !ok {
			return nil, fmt.Errorf("grammar has the unknown field %q", name)
		}
		g.fields = append(g.fields, f)
	}
	return g, nil
}

// supertypes are symbols of the grammar that never stand in a tree.
var supertypes = map[string]bool{
	"_simple_statement": true, "_compound_statement": true, "expression": true, "primary_expression": true,
	"pattern": true, "parameter": true, "end": true,
}
