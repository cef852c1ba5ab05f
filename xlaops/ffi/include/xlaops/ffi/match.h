// ffi::Match, ffi::Verify and ffi::match as XLA's document on custom calls describes
// them, for the headers that do not have them yet (jaxlib before 0.11.1). Where XLA has
// them this adds nothing. What matches, and the texts of errors, are the same.

#ifndef XLAOPS_FFI_MATCH_H_
#define XLAOPS_FFI_MATCH_H_

#include "xlaops/ffi/api.h"

#if !XLAOPS_FFI_XLA_HAS_MATCH

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace xla::ffi {

// Where it is public in later headers.
using internal::kDynamicRank;

namespace match {

// What one dimension may be: anything, one number, or anything that is then written to
// where a pointer says.
class DimPattern {
 public:
  DimPattern() = default;

  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  DimPattern(T value) : number_(static_cast<int64_t>(value)) {}  // NOLINT

  DimPattern(int64_t* capture) : capture_(capture) {  // NOLINT
    assert(capture != nullptr);
  }

  const std::optional<int64_t>& number() const { return number_; }
  int64_t* capture() const { return capture_; }

 private:
  std::optional<int64_t> number_;
  int64_t* capture_ = nullptr;
};

inline DimPattern Dim() { return {}; }
inline DimPattern Dim(int64_t* capture) { return capture; }
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
DimPattern Dim(T value) {
  return value;
}

}  // namespace match

namespace internal {

// Alternatives of which a value is one; none if it may be any.
template <typename T>
using Alternatives = std::vector<T>;

template <typename T>
void DescribeAlternatives(std::ostream& out, const Alternatives<T>& alternatives) {
  for (size_t i = 0; i < alternatives.size(); ++i) {
    out << (i == 0 ? "" : ", ") << alternatives[i];
  }
}

// The constraints of a pattern, apart from C++'s types.
struct BufferConstraints {
  Alternatives<DataType> dtypes;
  Alternatives<size_t> ranks;
  std::vector<match::DimPattern> dims;

  // What does not fit, or nothing.
  std::optional<std::string> Mismatch(DataType dtype,
                                      AnyBuffer::Dimensions found) const {
    std::ostringstream out;
    if (!OneOf(out, "dtype", dtypes, dtype)) return out.str();
    if (!OneOf(out, "rank", ranks, found.size())) return out.str();
    if (dims.size() > found.size()) {
      out << "expected dimension " << dims.size() - 1 << " but buffer rank is "
          << found.size();
      return out.str();
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      const std::optional<int64_t> expected = Expected(i, found);
      if (expected.has_value() && *expected != found[i]) {
        out << "expected dimension " << i << " to be " << *expected << " but got "
            << found[i];
        return out.str();
      }
    }
    return std::nullopt;
  }

  void Capture(AnyBuffer::Dimensions found) const {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].capture() != nullptr) *dims[i].capture() = found[i];
    }
  }

  std::string Describe() const {
    std::ostringstream out;
    out << "a buffer";
    DescribeOneOf(out, "dtype", dtypes);
    DescribeOneOf(out, "rank", ranks);
    for (size_t i = 0; i < dims.size(); ++i) {
      out << (i == 0 ? " with dimensions [" : ", ");
      if (dims[i].number().has_value()) {
        out << *dims[i].number();
      } else {
        out << "any dimension" << (dims[i].capture() == nullptr ? "" : " (captured)");
      }
    }
    out << (dims.empty() ? "" : "]");
    return out.str();
  }

 private:
  // The number that the pattern demands, or what the same capture was in front.
  std::optional<int64_t> Expected(size_t i, AnyBuffer::Dimensions found) const {
    if (dims[i].capture() == nullptr) return dims[i].number();
    for (size_t j = 0; j < i; ++j) {
      if (dims[j].capture() == dims[i].capture()) return found[j];
    }
    return std::nullopt;
  }

  template <typename T>
  static bool OneOf(std::ostream& out, const char* what,
                    const Alternatives<T>& alternatives, T found) {
    if (alternatives.empty()) return true;
    for (const T& alternative : alternatives) {
      if (alternative == found) return true;
    }
    const bool several = alternatives.size() > 1;
    out << "expected " << what << (several ? " to be one of [" : " ");
    DescribeAlternatives(out, alternatives);
    out << (several ? "]" : "") << " but got " << found;
    return false;
  }

  template <typename T>
  static void DescribeOneOf(std::ostream& out, const char* what,
                            const Alternatives<T>& alternatives) {
    if (alternatives.empty()) return;
    const bool several = alternatives.size() > 1;
    out << " with " << what << (several ? " in [" : " ");
    DescribeAlternatives(out, alternatives);
    out << (several ? "]" : "");
  }
};

// A buffer as one of another type. Buffers of all types are no more than a pointer to
// an XLA_FFI_Buffer, and had no way to give it away before Match came.
template <typename To, typename From>
To SameBuffer(const From& from) {
  static_assert(std::is_trivially_copyable_v<From> && std::is_standard_layout_v<From> &&
                sizeof(From) == sizeof(const XLA_FFI_Buffer*));
  const XLA_FFI_Buffer* buffer;
  std::memcpy(&buffer, &from, sizeof(buffer));
  return To(buffer);
}

}  // namespace internal

namespace match {

template <DataType... dtypes>
struct DTypeList {};
template <size_t... ranks>
struct RankList {};

// A pattern for buffers. It is made by Buffer(), and each method returns another one
// with a constraint more. Types that are known when it is compiled stay in its type,
// where Match finds the type of its result.
template <typename DTypeChoice = DTypeList<>, typename RankChoice = RankList<>>
class BufferPattern {
 public:
  explicit BufferPattern(internal::BufferConstraints constraints = {})
      : constraints_(std::move(constraints)) {}

  // The element type is one of these.
  template <DataType dtype, DataType... dtypes>
  auto WithDType() const {
    internal::BufferConstraints changed = constraints_;
    changed.dtypes = {dtype, dtypes...};
    return BufferPattern<DTypeList<dtype, dtypes...>, RankChoice>(std::move(changed));
  }

  // The number of dimensions is one of these.
  template <size_t rank, size_t... ranks>
  auto WithRank() const {
    static_assert(rank != kDynamicRank && ((ranks != kDynamicRank) && ...),
                  "any rank is what a pattern without WithRank accepts");
    internal::BufferConstraints changed = constraints_;
    changed.ranks = {rank, ranks...};
    return BufferPattern<DTypeChoice, RankList<rank, ranks...>>(std::move(changed));
  }

  // These are all dimensions, in order: numbers, pointers, Dim().
  template <typename... Dims, typename = std::enable_if_t<
                                  (std::is_convertible_v<Dims, DimPattern> && ...)>>
  auto WithDims(Dims&&... dims) const {
    internal::BufferConstraints changed = constraints_;
    changed.ranks = {sizeof...(Dims)};
    changed.dims = {DimPattern(std::forward<Dims>(dims))...};
    return BufferPattern<DTypeChoice, RankList<sizeof...(Dims)>>(std::move(changed));
  }

  // There is a dimension of this index, and it is so.
  BufferPattern WithDim(size_t index, DimPattern dim) const {
    internal::BufferConstraints changed = constraints_;
    if (changed.dims.size() <= index) changed.dims.resize(index + 1);
    changed.dims[index] = dim;
    return BufferPattern(std::move(changed));
  }
  template <size_t index>
  BufferPattern WithDim(DimPattern dim) const {
    return WithDim(index, dim);
  }

  // The dimensions are those of another buffer.
  template <typename Other>
  auto WithShapeOf(Other other) const {
    internal::BufferConstraints changed = constraints_;
    const AnyBuffer::Dimensions dims = other.dimensions();
    changed.ranks = {dims.size()};
    changed.dims.assign(dims.begin(), dims.end());
    return BufferPattern<DTypeChoice, RankList<>>(std::move(changed));
  }

  // The element type and the dimensions are those of another buffer.
  template <typename Other>
  auto Like(Other other) const {
    internal::BufferConstraints changed = WithShapeOf(other).constraints();
    changed.dtypes = {other.element_type()};
    return BufferPattern<DTypeList<>, RankList<>>(std::move(changed));
  }

  const internal::BufferConstraints& constraints() const { return constraints_; }

 private:
  internal::BufferConstraints constraints_;
};

inline BufferPattern<> Buffer() { return BufferPattern<>(); }

template <DataType dtype, size_t rank = kDynamicRank>
auto Buffer() {
  auto pattern = BufferPattern<>().template WithDType<dtype>();
  if constexpr (rank == kDynamicRank) {
    return pattern;
  } else {
    return pattern.template WithRank<rank>();
  }
}

}  // namespace match

// Checks that a buffer fits a pattern. If it does, captured dimensions are written; if
// not they are left as they are, and the error says what did not fit.
template <typename AnyOrTyped, typename DTypeChoice, typename RankChoice>
Error Verify(std::string_view name, AnyOrTyped buffer,
             const match::BufferPattern<DTypeChoice, RankChoice>& pattern) {
  const internal::BufferConstraints& constraints = pattern.constraints();
  const AnyBuffer::Dimensions dims = buffer.dimensions();
  if (auto mismatch = constraints.Mismatch(buffer.element_type(), dims)) {
    std::ostringstream out;
    out << "Buffer '" << name << "' failed to match " << constraints.Describe() << ": "
        << *mismatch;
    return Error::InvalidArgument(out.str());
  }
  constraints.Capture(dims);
  return Error::Success();
}

// As Verify, and returns the buffer with the element type and rank of the pattern, of
// which there is one each.
template <DataType dtype, size_t rank>
ErrorOr<Buffer<dtype, rank>> Match(
    std::string_view name, AnyBuffer buffer,
    const match::BufferPattern<match::DTypeList<dtype>, match::RankList<rank>>&
        pattern) {
  if (Error error = Verify(name, buffer, pattern); error.failure()) {
    return Unexpected<Error>(std::move(error));
  }
  return internal::SameBuffer<Buffer<dtype, rank>>(buffer);
}

// As Verify, and returns the buffer, which has a type already.
template <DataType dtype, size_t rank, typename DTypeChoice, typename RankChoice>
ErrorOr<Buffer<dtype, rank>> Match(
    std::string_view name, Buffer<dtype, rank> buffer,
    const match::BufferPattern<DTypeChoice, RankChoice>& pattern) {
  if (Error error = Verify(name, buffer, pattern); error.failure()) {
    return Unexpected<Error>(std::move(error));
  }
  return buffer;
}

// As Match, for a result.
template <typename AnyOrTyped, typename DTypeChoice, typename RankChoice>
auto Match(std::string_view name, Result<AnyOrTyped> buffer,
           const match::BufferPattern<DTypeChoice, RankChoice>& pattern) {
  auto matched = Match(name, *buffer, pattern);
  using Typed = std::decay_t<decltype(*matched)>;
  if (matched.has_error()) {
    return ErrorOr<Result<Typed>>(Unexpected<Error>(std::move(matched).error()));
  }
  return ErrorOr<Result<Typed>>(Result<Typed>(*matched));
}

}  // namespace xla::ffi

#endif  // !XLAOPS_FFI_XLA_HAS_MATCH

#endif  // XLAOPS_FFI_MATCH_H_
