package dev.nexa.slurm.job.code;

/**
 * One file or symbolic link of a working tree.
 *
 * @param path the path below the tree's folder, with {@code /}
 * @param size the file's size in bytes; 0 for a link
 * @param executable whether the file's owner may execute it; false for a link
 * @param target the link's target; empty for a file
 */
record CodeEntry(String path, long size, boolean executable, String target) {
  boolean isLink() {
    return !target.isEmpty();
  }
}
