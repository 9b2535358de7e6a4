//! How much memory this process may take: what the machine has free, and what its groups and limits leave of it.

use std::path::{Path, PathBuf};

/// Bytes that this process may take without swapping or being stopped, where the system tells.
pub(crate) fn free_memory() -> Option<u64> {
    free_below(Path::new("/"))
}

/// The same, read from the files below `root`.
fn free_below(root: &Path) -> Option<u64> {
    let read = |path: &str| fs_err::read_to_string(root.join(path)).ok();
    let machine = read("proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let groups = read("proc/self/cgroup").and_then(|text| {
        text.lines().filter_map(|line| group_free(&root.join("sys/fs/cgroup"), line)).min()
    });
    let status = read("proc/self/status").unwrap_or_default();
    let limits = read("proc/self/limits").unwrap_or_default();
    let limit = |name, used| {
        let used = kilobytes(&status, used)?;
        Some(soft_limit(&limits, name)?.saturating_sub(used))
    };
    let left = [limit("Max address space", "VmSize:"), limit("Max data size", "VmData:")];
    [machine, groups].into_iter().chain(left).flatten().min()
}

/// The bytes of a line like `MemAvailable:   123 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The limit in force, from a line like `Max address space   123   unlimited   bytes`.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The files of a control group of one version.
struct Group {
    base: PathBuf,
    limit: &'static str,
    used: &'static str,
    /// Prefixes of the lines of `memory.stat` with what the kernel gives back when memory is short.
    cached: [&'static str; 2],
}

/// What the group of a line of `/proc/self/cgroup`, and those above it, leave.
fn group_free(mounted: &Path, line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let second = |base: PathBuf| Group {
        base,
        limit: "memory.max",
        used: "memory.current",
        cached: ["inactive_file ", "active_file "],
    };
    let groups = match controllers {
        // The second version is mounted beside the first on some systems.
        "" => vec![second(mounted.to_owned()), second(mounted.join("unified"))],
        _ if controllers.split(',').any(|name| name == "memory") => vec![Group {
            base: mounted.join("memory"),
            limit: "memory.limit_in_bytes",
            used: "memory.usage_in_bytes",
            cached: ["total_inactive_file ", "total_active_file "],
        }],
        _ => return None,
    };
    // In a container the path is that of the host, and the group itself is what is mounted.
    let folders = |group: &Group| -> Vec<PathBuf> {
        let inside = Path::new(path.trim_start_matches('/'));
        inside.ancestors().map(|inside| group.base.join(inside)).collect()
    };
    let free = |group: &Group| {
        folders(group).into_iter().filter_map(|folder| left_in(&folder, group)).min()
    };
    groups.iter().filter_map(free).min()
}

/// What a group leaves; `None` without a limit.
fn left_in(folder: &Path, group: &Group) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        fs_err::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    let (limit, used) = (number(group.limit)?, number(group.used)?);
    let stat = fs_err::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached: u64 = stat
        .lines()
        .filter_map(|line| group.cached.iter().find_map(|name| line.strip_prefix(name)))
        .filter_map(|bytes| bytes.trim().parse::<u64>().ok())
        .sum();
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files below a root, and what they leave free.
    fn free(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        free_below(root.path())
    }

    const MACHINE: (&str, &str) =
        ("proc/meminfo", "MemTotal:  8000 kB\nMemAvailable:    4000 kB\n");

    #[test]
    fn a_machine_without_limits_has_what_is_available() {
        assert_eq!(free(&[MACHINE]), Some(4000 << 10));
        assert_eq!(free(&[]), None);
        let unlimited = [
            MACHINE,
            ("proc/self/cgroup", "4:memory:/a\n0::/b\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n"),
            ("sys/fs/cgroup/b/memory.max", "max\n"),
            ("sys/fs/cgroup/b/memory.current", "1000\n"),
            ("proc/self/limits", "Max address space     unlimited            unlimited  bytes\n"),
            ("proc/self/status", "VmSize:\t  1000 kB\n"),
        ];
        assert_eq!(free(&unlimited), Some(4000 << 10));
    }

    #[test]
    fn the_narrowest_group_counts_less_what_it_uses_but_for_cached_files() {
        let second = [
            MACHINE,
            ("proc/self/cgroup", "0::/service/one\n"),
            ("sys/fs/cgroup/service/memory.max", "1000000\n"),
            ("sys/fs/cgroup/service/memory.current", "900000\n"),
            (
                "sys/fs/cgroup/service/memory.stat",
                "anon 5\ninactive_file 300000\nactive_file 100000\n",
            ),
            ("sys/fs/cgroup/service/one/memory.max", "max\n"),
            ("sys/fs/cgroup/service/one/memory.current", "900000\n"),
        ];
        assert_eq!(free(&second), Some(500_000));
        let container = [
            MACHINE,
            ("proc/self/cgroup", "7:cpu,memory:/docker/0123\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 200000\ninactive_file 7\n"),
        ];
        assert_eq!(free(&container), Some(700_000));
    }

    #[test]
    fn a_limit_of_the_address_space_counts_less_what_is_mapped() {
        let limited = [
            MACHINE,
            (
                "proc/self/limits",
                "Limit   Soft   Hard\nMax address space   3000000    unlimited   bytes\n",
            ),
            ("proc/self/status", "VmPeak:\t 9 kB\nVmSize:\t  1000 kB\n"),
        ];
        assert_eq!(free(&limited), Some(3_000_000 - 1_024_000));
        let exceeded = [
            MACHINE,
            ("proc/self/limits", "Max data size   1000    unlimited   bytes\n"),
            ("proc/self/status", "VmData:\t  1000 kB\n"),
        ];
        assert_eq!(free(&exceeded), Some(0));
    }
}
