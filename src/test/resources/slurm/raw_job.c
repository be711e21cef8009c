/*
 * Submits and changes jobs by Slurm's C API with any value in any field, also those that sbatch and scontrol cannot set.
 *   raw_job submit FIELD=VALUE...        prints the job's id
 *   raw_job update JOB FIELD=VALUE...    JOB as scontrol takes it: 7, 7_3, 7_[1-2], 7+1
 *   raw_job jobs                         one line for each job that slurmctld knows
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { TEXT, U8, U16, U32, U64 };
static const struct field {
  const char *name;
  enum kind kind;
  size_t at;
} FIELDS[] = {
#define F(name, kind) {#name, kind, offsetof(job_desc_msg_t, name)}
    F(tres_per_job, TEXT),      F(tres_per_node, TEXT),    F(tres_per_task, TEXT),   F(tres_per_socket, TEXT),
    F(cpus_per_tres, TEXT),     F(mem_per_tres, TEXT),     F(tres_bind, TEXT),       F(tres_freq, TEXT),
    F(partition, TEXT),         F(req_nodes, TEXT),        F(exc_nodes, TEXT),       F(features, TEXT),
    F(prefer, TEXT),            F(array_inx, TEXT),        F(dependency, TEXT),      F(name, TEXT),
    F(comment, TEXT),           F(admin_comment, TEXT),    F(account, TEXT),         F(qos, TEXT),
    F(reservation, TEXT),       F(licenses, TEXT),         F(overcommit, U8),        F(shared, U16),
    F(cpus_per_task, U16),      F(pn_min_cpus, U16),       F(ntasks_per_node, U16),  F(ntasks_per_socket, U16),
    F(ntasks_per_core, U16),    F(ntasks_per_board, U16),  F(ntasks_per_tres, U16),  F(boards_per_node, U16),
    F(sockets_per_board, U16),  F(sockets_per_node, U16),  F(cores_per_socket, U16), F(threads_per_core, U16),
    F(requeue, U16),            F(contiguous, U16),        F(core_spec, U16),        F(plane_size, U16),
    F(reboot, U16),             F(immediate, U16),         F(min_cpus, U32),         F(max_cpus, U32),
    F(min_nodes, U32),          F(max_nodes, U32),         F(num_tasks, U32),        F(time_limit, U32),
    F(time_min, U32),           F(nice, U32),              F(priority, U32),         F(het_job_offset, U32),
    F(task_dist, U32),          F(bitflags, U64),          F(pn_min_memory, U64),    F(end_time, U64),
#undef F
};

static void set(job_desc_msg_t *job, char *assignment) {
  char *value = strchr(assignment, '=');
  if (value == NULL) exit(2);
  *value++ = '\0';
  for (size_t i = 0; i < sizeof(FIELDS) / sizeof(*FIELDS); i++) {
    if (strcmp(FIELDS[i].name, assignment) != 0) continue;
    char *place = (char *)job + FIELDS[i].at;
    unsigned long long number = strtoull(value, NULL, 0);
    switch (FIELDS[i].kind) {
      case TEXT: *(char **)place = value; break;
      case U8: *(uint8_t *)place = (uint8_t)number; break;
      case U16: *(uint16_t *)place = (uint16_t)number; break;
      case U32: *(uint32_t *)place = (uint32_t)number; break;
      case U64: *(uint64_t *)place = (uint64_t)number; break;
    }
    return;
  }
  fprintf(stderr, "raw_job: no field %s\n", assignment);
  exit(2);
}

static int failed(void) {
  fprintf(stderr, "raw_job: %s\n", slurm_strerror(errno));
  return 1;
}

static int submit(int count, char **fields) {
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  char *environment[] = {"PATH=/usr/bin:/bin"};
  job.environment = environment;
  job.env_size = 1;
  job.script = "#!/bin/bash\nexit\n";
  job.user_id = getuid();
  job.group_id = getgid();
  job.work_dir = "/tmp";
  job.std_out = "/dev/null";
  job.std_err = "/dev/null";
  job.min_nodes = 1;
  for (int i = 0; i < count; i++) set(&job, fields[i]);
  submit_response_msg_t *answer = NULL;
  if (slurm_submit_batch_job(&job, &answer) != SLURM_SUCCESS) return failed();
  printf("%u\n", answer->job_id);
  return 0;
}

static int update(char *id, int count, char **fields) {
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  job.job_id_str = id;
  for (int i = 0; i < count; i++) set(&job, fields[i]);
  job_array_resp_msg_t *answer = NULL;
  if (slurm_update_job2(&job, &answer) != SLURM_SUCCESS) return failed();
  int result = 0;
  for (uint32_t i = 0; answer != NULL && i < answer->job_array_count; i++) {
    if (answer->error_code[i] == SLURM_SUCCESS) continue;
    fprintf(stderr, "raw_job: %s: %s\n", answer->job_array_id[i], slurm_strerror((int)answer->error_code[i]));
    result = 1;
  }
  return result;
}

static int jobs(void) {
  job_info_msg_t *all = NULL;
  if (slurm_load_jobs(0, &all, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) return failed();
  for (uint32_t i = 0; i < all->record_count; i++) {
    job_info_t *job = &all->job_array[i];
    uint32_t group = job->het_job_id ? job->het_job_id : job->array_job_id ? job->array_job_id : job->job_id;
    printf("%s|%u|%u|%u|%lld|%u|%u|%s|%s|%s\n", job->name ? job->name : "", group, job->job_id,
           job->job_state & JOB_STATE_BASE, (long long)(job->nodes && job->nodes[0] ? job->start_time : 0), job->time_limit, job->num_nodes,
           job->partition ? job->partition : "", job->gres_total ? job->gres_total : "",
           job->admin_comment ? job->admin_comment : "");
  }
  return 0;
}

int main(int count, char **words) {
  slurm_init(NULL);
  if (count >= 2 && strcmp(words[1], "submit") == 0) return submit(count - 2, words + 2);
  if (count >= 3 && strcmp(words[1], "update") == 0) return update(words[2], count - 3, words + 3);
  if (count == 2 && strcmp(words[1], "jobs") == 0) return jobs();
  return 2;
}
