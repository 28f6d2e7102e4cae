/* Every sync of a file takes a millisecond longer. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

int fdatasync(int fd) {
  usleep(1000);
  return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
  usleep(1000);
  return (int)syscall(SYS_fsync, fd);
}
