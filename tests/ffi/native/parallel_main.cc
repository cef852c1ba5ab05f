// ParFor on a pool of its own, without XLA: for sanitizers, which do not see into XLA.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "xlaops/ffi/parallel.h"

// Threads that run tasks in order, with the two methods that ParFor calls.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  int64_t num_threads() const { return static_cast<int64_t>(threads_.size()); }
  template <typename F>
  void Schedule(F&& task) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tasks_.emplace_back(std::forward<F>(task));
    }
    changed_.notify_one();
  }

 private:
  void Work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return done_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool done_ = false;
  std::vector<std::thread> threads_;
};

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// Sums of what other threads have written: without synchronisation a race.
void Sum(Pool& pool, int64_t size) {
  std::vector<int64_t> out(static_cast<size_t>(size), 0);
  xlaops::ParFor(pool, size, 1, [&](int64_t begin, int64_t end) {
    // Gives the pool's threads the time to begin a piece.
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (int64_t i = begin; i < end; ++i) out[static_cast<size_t>(i)] += i;
  });
  int64_t sum = 0;
  for (int64_t x : out) sum += x;
  Check(sum == size * (size - 1) / 2, "each index is visited once");
}

void Nest(Pool& pool) {
  std::vector<int> out(16 * 16, 0);
  xlaops::ParFor(pool, 16, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      xlaops::ParFor(pool, 16, 1, [&](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j) {
          out[static_cast<size_t>(16 * i + j)] += 1;
        }
      });
    }
  });
  for (int x : out) Check(x == 1, "each pair is visited once");
}

void Throw(Pool& pool) {
  bool caught = false;
  try {
    xlaops::ParFor(pool, 100, 1, [](int64_t begin, int64_t) {
      if (begin > 10) throw std::runtime_error("expected");
    });
  } catch (const std::runtime_error&) {
    caught = true;
  }
  Check(caught, "an exception comes out");
}

int main() {
  Pool pool(3);
  // Callers on the pool's own threads and on others, more than there are threads.
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&pool] {
      for (int round = 0; round < 200; ++round) {
        Sum(pool, 1 + 37 * (round % 9));
        Nest(pool);
        Throw(pool);
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    pool.Schedule([&pool] { Sum(pool, 500); });
  }
  for (std::thread& caller : callers) caller.join();
  std::puts("done");
}
