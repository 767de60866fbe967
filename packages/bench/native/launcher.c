/*
 * Starts plugins the way a container runtime does, many at once, and measures each with the monotonic clock. A small
 * program of its own, since starting a process out of Node costs a millisecond or two and one thread, which would
 * hide what is to be compared.
 *
 * Standard input is a list of netstrings (LENGTH ":" BYTES ","): the number of workers, the number of jobs, and for each
 * job its number of steps, and for each step the program, the number of environment entries, the entries, the text that
 * goes to its standard input, "1" or "0" for whether the standard output of the step before follows that text, and the
 * text after that. Steps of a job run one after another (a chain of plugins); jobs run side by side.
 *
 * Standard output has for each job, in order: "STATUS START END STEP1 STEP2…" (exit status of the last step that ran,
 * nanoseconds since the launch, nanoseconds of each step), the standard output of the last step, and the standard
 * error of a failed one. A step's time lasts from before its pipes are made until it has been waited for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct text {
  char *data;
  size_t length;
};

struct step {
  char *program;
  char **environment;
  struct text head, tail;
  int splice;
  uint64_t duration;
};

struct job {
  size_t count;
  struct step *steps;
  int status;
  uint64_t start, end;
  struct text output, error;
};

static struct text input;
static size_t position;
static struct job *jobs;
static size_t job_count;
static atomic_size_t next_job;
static uint64_t launched;

static void die(const char *what) {
  perror(what);
  exit(125);
}

static void *allocate(size_t size) {
  void *memory = calloc(1, size);
  if (memory == NULL) die("calloc");
  return memory;
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads until the end of file. */
static struct text read_all(int fd) {
  size_t room = 4096;
  struct text t = {allocate(room + 1), 0};
  for (;;) {
    if (t.length == room && (t.data = realloc(t.data, (room *= 2) + 1)) == NULL) die("realloc");
    ssize_t n = read(fd, t.data + t.length, room - t.length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) die("read");
    if (n == 0) break;
    t.length += (size_t)n;
  }
  t.data[t.length] = 0;
  return t;
}

/* The next netstring; its comma is overwritten, so that the text ends with a zero byte. */
static struct text take(void) {
  char *end;
  size_t length = strtoul(input.data + position, &end, 10);
  struct text t = {end + 1, length};
  position = (size_t)(end + 1 - input.data) + length + 1;
  if (*end != ':' || position > input.length || t.data[length] != ',') {
    fprintf(stderr, "launcher: malformed input at byte %zu\n", position);
    exit(125);
  }
  t.data[length] = 0;
  return t;
}

static size_t take_number(void) { return strtoul(take().data, NULL, 10); }

static void take_step(struct step *s) {
  s->program = take().data;
  size_t count = take_number();
  s->environment = allocate((count + 1) * sizeof *s->environment);
  for (size_t i = 0; i < count; i++) s->environment[i] = take().data;
  s->head = take();
  s->splice = (int)take_number();
  s->tail = take();
}

static void take_jobs(void) {
  job_count = take_number();
  jobs = allocate(job_count * sizeof *jobs);
  for (size_t j = 0; j < job_count; j++) {
    jobs[j].count = take_number();
    jobs[j].steps = allocate(jobs[j].count * sizeof *jobs[j].steps);
    for (size_t s = 0; s < jobs[j].count; s++) take_step(&jobs[j].steps[s]);
  }
}

/* A pipe takes 64 KiB without a reader, more than any configuration: so it can be filled before the program starts. */
static void fill(int fd, const struct text *t) {
  if (write(fd, t->data, t->length) != (ssize_t)t->length) die("the configuration does not fit a pipe");
}

static void make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) < 0) die("pipe2");
}

static int run_step(struct step *s, const struct text *before, struct text *output, struct text *error) {
  uint64_t start = now();
  int in[2], out[2], status, log = memfd_create("stderr", MFD_CLOEXEC);
  make_pipe(in);
  make_pipe(out);
  fill(in[1], &s->head);
  if (s->splice) fill(in[1], before);
  fill(in[1], &s->tail);
  close(in[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  char *arguments[] = {s->program, NULL};
  pid_t pid;
  if ((errno = posix_spawn(&pid, s->program, &actions, NULL, arguments, s->environment)) != 0) die(s->program);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  *output = read_all(out[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  s->duration = now() - start;
  close(out[0]);
  status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (status != 0 && lseek(log, 0, SEEK_SET) == 0) *error = read_all(log);
  close(log);
  return status;
}

static void run_job(struct job *j) {
  j->start = now() - launched;
  for (size_t s = 0; s < j->count && j->status == 0; s++) {
    struct text before = j->output;
    j->status = run_step(&j->steps[s], &before, &j->output, &j->error);
  }
  j->end = now() - launched;
}

static void *work(void *unused) {
  for (size_t j; (j = atomic_fetch_add(&next_job, 1)) < job_count;) run_job(&jobs[j]);
  return unused;
}

static void run_workers(size_t count) {
  pthread_t *threads = allocate(count * sizeof *threads);
  launched = now();
  for (size_t i = 0; i < count; i++) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) die("pthread_create");
  }
  for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void put(const char *data, size_t length) {
  printf("%zu:", length);
  fwrite(data, 1, length, stdout);
  putchar(',');
}

static void put_job(const struct job *j) {
  char *line = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&line, &size);
  fprintf(f, "%d %llu %llu", j->status, (unsigned long long)j->start, (unsigned long long)j->end);
  for (size_t s = 0; s < j->count; s++) fprintf(f, " %llu", (unsigned long long)j->steps[s].duration);
  fclose(f);
  put(line, size);
  put(j->output.data, j->output.length);
  put(j->error.data, j->error.length);
  free(line);
}

int main(void) {
  input = read_all(0);
  size_t workers = take_number();
  take_jobs();
  run_workers(workers);
  for (size_t j = 0; j < job_count; j++) put_job(&jobs[j]);
  return fflush(stdout) == 0 ? 0 : 125;
}
