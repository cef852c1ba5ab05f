// A loop over XLA's threads that cannot deadlock.

#ifndef XLAOPS_FFI_PARALLEL_H_
#define XLAOPS_FFI_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace xlaops {
namespace internal {

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define XLAOPS_TRY try
#define XLAOPS_CATCH_ALL catch (...)
#else
#define XLAOPS_TRY if (true)
#define XLAOPS_CATCH_ALL else
#endif

// One loop: its pieces, and who has taken and finished how many. Whoever may still look
// at it owns it: a task that starts after the loop has ended finds no piece left.
template <typename Body>
class Loop {
 public:
  Loop(Body& body, int64_t size, int64_t pieces)
      : body_(&body), size_(size), pieces_(pieces) {}

  // Takes pieces until there are none left.
  void TakePart() {
    for (;;) {
      const int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces_) return;
      Run(piece);
      // Release what this piece wrote, acquire what the others did.
      if (finished_.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces_) {
        std::lock_guard<std::mutex> lock(mutex_);
        all_finished_ = true;
        changed_.notify_all();
      }
    }
  }

  // Waits for the pieces that others have begun. Only for those: a piece that nobody
  // has begun does not exist any more when the caller has taken part.
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return all_finished_; });
    if (error_ != nullptr) {
      std::exception_ptr error = std::exchange(error_, nullptr);
      lock.unlock();
      std::rethrow_exception(std::move(error));
    }
  }

 private:
  void Run(int64_t piece) {
    if (failed_.load(std::memory_order_relaxed)) return;
    XLAOPS_TRY {
      // Pieces whose sizes differ by one at most, in arithmetic that cannot overflow.
      const int64_t base = size_ / pieces_;
      const int64_t longer = size_ % pieces_;
      const int64_t begin = piece * base + std::min(piece, longer);
      (*body_)(begin, begin + base + (piece < longer ? 1 : 0));
    }
    XLAOPS_CATCH_ALL {
      std::lock_guard<std::mutex> lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  Body* const body_;
  const int64_t size_;
  const int64_t pieces_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> finished_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool all_finished_ = false;
  std::exception_ptr error_;
};

}  // namespace internal

// Calls body(begin, end) for ranges that together are [0, size), on the threads of
// `pool` (the ffi::ThreadPool of .Ctx<ffi::ThreadPool>()) and on the calling one, and
// returns when all have returned.
//
// A range has at least `grain` elements, so that short loops stay on one thread. The
// first exception that body throws is thrown again here; ranges that have not begun by
// then are left out.
//
// The caller takes part, and waits for nothing that has not begun: a handler that
// waited for tasks of its own in XLA's pool would deadlock as soon as as many of them
// run at once as there are threads. Calls may be nested.
template <typename Pool, typename Body>
void ParFor(Pool&& pool, int64_t size, int64_t grain, Body&& body) {
  if (size <= 0) return;
  const int64_t threads = std::max<int64_t>(pool.num_threads(), 1);
  const int64_t most = std::max<int64_t>(size / std::max<int64_t>(grain, 1), 1);
  // More pieces than threads: one that is slow or busy then holds up little.
  const int64_t pieces = threads == 1 ? 1 : std::min(most, 4 * threads);
  if (pieces == 1) {
    body(int64_t{0}, size);
    return;
  }
  using Loop = internal::Loop<std::remove_reference_t<Body>>;
  auto loop = std::make_shared<Loop>(body, size, pieces);
  XLAOPS_TRY {
    for (int64_t i = 1; i < std::min(threads, pieces); ++i) {
      // A temporary: XLA's Schedule does not compile for anything that has a name.
      pool.Schedule([loop] { loop->TakePart(); });
    }
  }
  XLAOPS_CATCH_ALL {
    // A task less, when there is no memory for it. Those before it hold on to the body,
    // so this must not end the loop.
  }
  loop->TakePart();
  loop->Wait();
}

}  // namespace xlaops

#undef XLAOPS_TRY
#undef XLAOPS_CATCH_ALL

#endif  // XLAOPS_FFI_PARALLEL_H_
