#!/bin/busybox sh
# The first process of a guest: mounts what a node has, loads modules, answers commands from the second serial line, and
# runs the test's script on the console. What it can't do ends the guest, with the reason on the console.
/bin/busybox mkdir -p /proc /sys /dev /run /tmp
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp

give_up() {
  echo "guest: $1"
  poweroff -f
}

mount -t sysfs sysfs /sys || give_up "mounting /sys failed"
mount -t devtmpfs dev /dev || give_up "mounting /dev failed"
mount -t tmpfs run /run || give_up "mounting /run failed"
mount -t tmpfs tmp /tmp || give_up "mounting /tmp failed"
mount -t cgroup2 cgroup2 /sys/fs/cgroup || give_up "mounting /sys/fs/cgroup failed"
echo "+cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control || give_up "enabling cgroup controllers failed"

ln -s /guest/modules "/lib/modules/$(uname -r)"
while read -r module; do
  # Unquoted: a module's name, then its parameters.
  modprobe $module || give_up "loading $module failed"
done </guest/load

ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
  # No route beyond: the guest reaches this machine's loopback as 10.0.2.2, and nothing else.
  ip address add 10.0.2.15/24 dev eth0 && ip link set eth0 up || give_up "setting up eth0 failed"
fi

# A line of the answer holds the command's number, its exit code and its output, the last in base64.
execute() {
  # Whoever listens must outlive a shortage of memory; what the test runs must not.
  echo 0 >/proc/self/oom_score_adj
  echo "$2" | base64 -d >"/run/command-$1"
  exec sh "/run/command-$1" 3>&-
}
answer() {
  (execute "$1" "$2") >"/run/output-$1" 2>&1 </dev/null
  line="$1 $? $(base64 -w 0 "/run/output-$1")"
  rm "/run/command-$1" "/run/output-$1"
  # A long line is written in pieces, and another one must not come between.
  until mkdir /run/answering 2>/dev/null; do sleep 0.1; done
  echo "$line" >&3
  rmdir /run/answering
}
serve_commands() {
  echo -1000 >/proc/self/oom_score_adj
  while read -r number command; do
    # By itself, so that one that hangs keeps none of the others waiting; and as nobody's child, since this shell forgets
    # the half of a line that it has read when the end of a child interrupts it.
    (answer "$number" "$command" &)
  done <&3
}
stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
serve_commands &
echo ready >&3
exec 3>&-

(
  sh /guest/script
  echo "guest: script ended ($?)"
) &
# As the first process it also reaps what others left behind, and never ends.
while :; do
  wait
  sleep 1
done
