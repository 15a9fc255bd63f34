// The recursive-descent parser. Private to compiler/parse.
//
// A parse function reports what is wrong and returns null (false) when it could not go on; its
// caller passes that up to the nearest statement or item, which skips to where the next one begins
// (recoverStatement, recoverItem). No two syntax errors are reported at one token.
//
// Depth: `level` is the number of tree levels above the node in work, counting brackets, blocks,
// right operands; each finished expression knows its height. Both together never exceed
// ast::maxDepth, which bounds the recursion of the parser and of everything after it.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/parse/Lexer.h"
#include "compiler/parse/Parser.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tilec {

class Parser {
public:
  Parser(unsigned bufferId, const llvm::SourceMgr &sources, ast::Context &context,
         DiagnosticEngine &diagnostics);
  /// Of a part of a buffer, for anything but a whole file.
  Parser(llvm::StringRef text, const llvm::SourceMgr &sources, ast::Context &context,
         DiagnosticEngine &diagnostics);
  const ast::File *parseFile();
  const ast::Expr *parseOnlyExpr();
  bool parseOnlyClauses(llvm::SmallVectorImpl<ast::CaseClause> &clauses);

private:
  using Expr = ast::Expr;

  // Tokens (Parser.cpp)
  bool at(TokenKind kind) const { return token.is(kind); }
  bool atWord(llvm::StringRef word) const {
    return token.is(TokenKind::Name) && token.text == word;
  }
  Token take();
  bool accept(TokenKind kind);
  bool acceptWord(llvm::StringRef word);
  bool expect(TokenKind kind, llvm::StringRef what = {});
  bool expectWord(llvm::StringRef word);
  std::optional<ast::Ident> expectName(llvm::StringRef what);
  bool expectClosing(TokenKind kind, llvm::SMLoc open);
  bool expectSemicolon();
  llvm::SMRange rangeFrom(llvm::SMLoc start) const { return {start, previousEnd}; }
  /// Parses `element { "," element } close`, or just `close` if `mayBeEmpty`.
  bool parseList(TokenKind close, llvm::SMLoc open, bool mayBeEmpty,
                 llvm::function_ref<bool()> element);

  // Errors (Parser.cpp)
  DiagnosticEngine::Builder syntaxError(llvm::StringRef expected);
  std::string describeToken() const;
  bool isReportable();
  void stop();
  bool checkDepth(unsigned height, llvm::SMRange range);
  void skipBalanced();
  bool isFirstOnLine() const;
  static bool beginsItemOnly(TokenKind kind);
  void recoverStatement(const char *start);
  void recoverItem(const char *itemStart);

  /// One level deeper, for its lifetime. False if that is too deep, which is then reported.
  class Level {
  public:
    explicit Level(Parser &parser) : parser(parser) { ++parser.level; }
    ~Level() { --parser.level; }
    Level(const Level &) = delete;
    Level &operator=(const Level &) = delete;
    explicit operator bool() const { return parser.checkDepth(0, parser.token.range()); }

  private:
    Parser &parser;
  };

  // Case lines (ParseCases.cpp)
  bool parseCaseClause(ast::CaseClause &clause);

  // Items (ParseItems.cpp)
  const ast::Item *parseItem();
  const ast::Item *parseImport();
  const ast::Item *parseConstItem();
  const ast::Item *parseFunction();
  const ast::Item *parseKernel(llvm::ArrayRef<ast::Annotation> annotations);
  const ast::Item *parseInstantiate();
  const ast::Item *parseTune();
  /// `NAME in values;` or, where no `in` follows, `keep expr;`.
  bool parseTuneEntry(llvm::SmallVectorImpl<ast::TuneParam> &params, const Expr *&keep);
  bool parseFunctionParam(llvm::SmallVectorImpl<ast::FunctionParam> &params);
  bool parseKernelParam(llvm::SmallVectorImpl<ast::KernelParam> &params);
  bool parseAttributes(ast::KernelParam &param);
  bool parseGiven(llvm::SmallVectorImpl<ast::Given> &given);
  bool parseGenerics(llvm::ArrayRef<ast::GenericParam> &generics);
  std::optional<ast::ParamKind> parseKind();
  bool parseWhere(llvm::SmallVectorImpl<const Expr *> &where);
  ast::Direction parseDirection();
  bool checkAnnotationPlace(llvm::ArrayRef<ast::Annotation> annotations, llvm::StringRef place);

  // Types (ParseTypes.cpp)
  const ast::TypeExpr *parseType();
  std::optional<ast::TileType> parseTileType();
  std::optional<ast::TileType> parseTensor();
  bool parseShape(llvm::ArrayRef<const Expr *> &shape);

  // Statements (ParseStatements.cpp)
  std::optional<ast::Block> parseBlock();
  const ast::Stmt *parseStatement();
  ast::Stmt *parseStatementBody();
  std::optional<ast::ConstDecl> parseConst();
  ast::Stmt *parseBuffer();
  ast::Stmt *parseLet();
  ast::Stmt *parseVar();
  ast::Stmt *parseView();
  ast::Stmt *parseLaunch();
  ast::Stmt *parseThreads();
  ast::Stmt *parseParallel();
  ast::Stmt *parseFor();
  ast::Stmt *parseWhile();
  ast::Stmt *parseIf();
  ast::Stmt *parseJump();
  ast::Stmt *parseAction();
  bool parseAxes(llvm::SMLoc open, llvm::ArrayRef<ast::Axis> &axes);
  bool parseNames(llvm::ArrayRef<ast::Ident> &names, llvm::StringRef what);
  bool parseBinder(llvm::ArrayRef<ast::Ident> &names, bool &isTuple);
  std::optional<ast::Range> parseRange();
  bool parseAnnotations(llvm::SmallVectorImpl<ast::Annotation> &annotations);

  // Expressions (ParseExpressions.cpp)
  const Expr *parseExpr();
  /// An expression that may be a list (`[`) or a tuple (`(`): as a whole, not somewhere in it.
  const Expr *parseExprOr(TokenKind open);
  const Expr *parseConditional(const Expr *condition);
  const Expr *parseBinary(unsigned minPrecedence);
  const Expr *parseSum();
  const Expr *parseUnary();
  const Expr *parsePostfix();
  const Expr *parsePrimary();
  const Expr *parseParens();
  const Expr *parseBrackets();
  const Expr *parseNameOrCall();
  const ast::ListExpr *parseListExpr();
  bool parseSubscript(llvm::SmallVectorImpl<ast::Subscript> &subscripts);
  bool parseArgs(llvm::SMLoc open, llvm::StringRef callee, bool isAnnotation,
                 llvm::ArrayRef<ast::Arg> &args);
  std::optional<ast::Arg> parseArg(llvm::StringRef callee, bool isAnnotation);

  const llvm::SourceMgr &sources;
  unsigned bufferId = 0;
  ast::Context &context;
  DiagnosticEngine &diagnostics;
  Lexer lexer;
  Token token, following; // two tokens of lookahead
  llvm::SMLoc previousEnd;
  unsigned level = 0;
  bool stopped = false;            // after [nesting] or too many errors: all that follows is End
  const char *lastError = nullptr; // where the last syntax error was
  const char *aggregatePlace = nullptr; // where a list or tuple may begin
};

} // namespace tilec
