/**
 * What the processes of a {@code soft} fabric share: the directory, its region and device files, and the words, rings
 * and tables in them, by which requesters and responders meet. Its layouts are described in
 * {@code docs/format/soft-shared-memory.md}. Knows no verbs object.
 */
package io.verbena.rdma.soft.shared;
