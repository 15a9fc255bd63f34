#include "compiler/emit/HostNames.h"

#include "compiler/emit/HostLibraryNames.h"
#include "compiler/emit/HostMacroNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilec {

/// Of C up to 23 and C++ up to 26.
static constexpr char kKeywords[] =
    "alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand "
    "bitor bool break case catch char char16_t char32_t char8_t class co_await co_return "
    "co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for "
    "friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reflexpr register reinterpret_cast requires "
    "restrict return short signed sizeof static static_assert static_cast struct switch "
    "synchronized template this thread_local throw true try typedef typeid typename typeof "
    "typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq ";

/// Types of <stddef.h> and <stdint.h>, and the namespace of C++'s library.
static constexpr char kTypes[] =
    "int16_t int32_t int64_t int8_t int_fast16_t int_fast32_t int_fast64_t int_fast8_t "
    "int_least16_t int_least32_t int_least64_t int_least8_t intmax_t intptr_t max_align_t "
    "nullptr_t ptrdiff_t size_t ssize_t std uint16_t uint32_t uint64_t uint8_t uint_fast16_t "
    "uint_fast32_t uint_fast64_t uint_fast8_t uint_least16_t uint_least32_t uint_least64_t "
    "uint_least8_t uintmax_t uintptr_t ";

/// Macros of compilers in their default mode, of C's headers where they look like functions but are as common as
/// variables, and of Qt.
static constexpr char kMacros[] =
    "assert emit foreach i386 imaginary linux offsetof signals slots unix ";

/// Macros of other headers of Linux that look like functions.
static constexpr char kFunctionMacros[] = "major makedev minor ";

/// Types of other headers of C and POSIX.
static constexpr char kLibraryTypes[] =
    "DIR FILE blkcnt_t blksize_t caddr_t clock_t clockid_t daddr_t dev_t div_t double_t fd_mask "
    "fd_set fenv_t fexcept_t float_t fpos_t fsid_t gid_t id_t imaxdiv_t ino_t jmp_buf key_t "
    "ldiv_t lldiv_t locale_t loff_t mbstate_t mode_t nl_catd nl_item nlink_t off_t pid_t "
    "pthread_t quad_t regex_t regmatch_t register_t rlim_t sem_t sig_atomic_t sigjmp_buf sigset_t "
    "sigval_t socklen_t stack_t suseconds_t time_t timer_t u_char u_int u_long u_quad_t u_short "
    "uid_t uint ulong useconds_t ushort va_list wctrans_t wctype_t wint_t ";

static StringSet<> setOf(ArrayRef<StringRef> lists) {
  StringSet<> result;
  for (StringRef list : lists) {
    SmallVector<StringRef> words;
    SplitString(list, words, " ");
    for (StringRef word : words) {
      result.insert(word);
    }
  }
  return result;
}

bool isReservedMember(StringRef name) {
  static const StringSet<> words = setOf({kKeywords, kTypes, kMacros, kHeaderMacros});
  // Two underscores in front, or one and a capital letter: C keeps these for its own.
  const bool isOfCompiler =
      name.starts_with("__") || (name.size() > 1 && name[0] == '_' && isUpper(name[1]));
  return words.contains(name) || isOfCompiler || name.starts_with_insensitive("tile_") ||
         name == "tile";
}

/// The C library has many of its functions under other names too: strtok_r, getc_unlocked, lseek64, expf32x.
static bool isLibraryFunction(StringRef name) {
  static const StringSet<> words = setOf({kLibraryNames});
  static constexpr StringLiteral endings[] = {"_l",  "_np",  "_r",  "_unlocked", "64",
                                              "f32", "f32x", "f64", "f64x",      "f128"};
  return words.contains(name) || any_of(endings, [&](StringRef ending) {
           return name.ends_with(ending) && isLibraryFunction(name.drop_back(ending.size()));
         });
}

bool isReservedFunction(StringRef name) {
  static const StringSet<> words =
      setOf({kLibraryTypes, kFunctionMacros, kHeaderFunctionMacros, "main"});
  // An underscore in front: in the scope of files C keeps all of these for itself, and linkers have some.
  return name.starts_with("_") || words.contains(name) || isLibraryFunction(name) ||
         isReservedMember(name);
}

std::string uniqueName(std::string name, StringSet<> &taken) {
  while (!taken.insert(name).second) {
    name += '_';
  }
  return name;
}

} // namespace tilec
