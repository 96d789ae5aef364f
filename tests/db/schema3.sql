-- A run history as schema 3 wrote it: three trials of two steps, two of them with a compression beside their attention. Never
-- edited, but for the folder's name.
PRAGMA application_id = 1633840244;
PRAGMA user_version = 3;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  overrides TEXT NOT NULL
) STRICT;
INSERT INTO experiment VALUES(1,'old mixtures','','/home/me/s.toml',replace('[experiment]\nname = "old mixtures"\n[task]\nplugin = "bytes"\nlength = 16\n[model]\nlayers = 1\nd_model = 8\nhidden = 8\n[train]\nsteps = 2\nbatch = 2\nevaluate_batches = 1\ntest_batches = 1\n[grid]\nrows = [{attention.plugin = "softmax"}, {attention.plugin = "compressed", attention.rate = "1/2", compression.plugin = "rbf"}, {attention.plugin = "compressed", attention.rate = "1/2", compression.plugin = "segment-mean"}]\n','\n',char(10)),'[]');
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  configuration INTEGER NOT NULL
) STRICT;
INSERT INTO trial VALUES(1,'4e605276cdba8e5b186e76a0efb70e3c6267f12028fb628ec3a900aff2eadabe',-3052199588266331462);
INSERT INTO trial VALUES(2,'0504df87a490fe1933004c1b0bc86db264be790b0f578641f64ef9ad3b1252e0',-6567139092422294951);
INSERT INTO trial VALUES(3,'77960be97c46f4d5ca08c2126aedf87e3d7e9befd9e19316b6db66becf248912',4002391827744675559);
CREATE TABLE resolved (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  json TEXT NOT NULL
) STRICT;
INSERT INTO resolved VALUES(1,'{"attention":{"heads":2,"plugin":"softmax"},"model":{"d_model":8,"dropout":0.1,"hidden":8,"layers":1,"pooling":"mean"},"seed":1,"task":{"data_seed":0,"examples":256,"length":16,"plugin":"bytes"},"train":{"batch":2,"beta1":0.9,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":0,"learning_rate":0.0001,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"test_batches":1,"threads":1,"warmup":0,"weight_decay":0.0}}');
INSERT INTO resolved VALUES(2,'{"attention":{"heads":2,"plugin":"compressed","rate":"1/2","read":"softmax"},"compression":{"plugin":"rbf","ridge":0.001,"width":1.0},"model":{"d_model":8,"dropout":0.1,"hidden":8,"layers":1,"pooling":"mean"},"seed":1,"task":{"data_seed":0,"examples":256,"length":16,"plugin":"bytes"},"train":{"batch":2,"beta1":0.9,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":0,"learning_rate":0.0001,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"test_batches":1,"threads":1,"warmup":0,"weight_decay":0.0}}');
INSERT INTO resolved VALUES(3,'{"attention":{"heads":2,"plugin":"compressed","rate":"1/2","read":"softmax"},"compression":{"plugin":"segment-mean"},"model":{"d_model":8,"dropout":0.1,"hidden":8,"layers":1,"pooling":"mean"},"seed":1,"task":{"data_seed":0,"examples":256,"length":16,"plugin":"bytes"},"train":{"batch":2,"beta1":0.9,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":0,"learning_rate":0.0001,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"test_batches":1,"threads":1,"warmup":0,"weight_decay":0.0}}');
CREATE TABLE experiment_trial (
  experiment INTEGER NOT NULL REFERENCES experiment,
  trial INTEGER NOT NULL REFERENCES trial,
  position INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
INSERT INTO experiment_trial VALUES(1,1,0,1);
INSERT INTO experiment_trial VALUES(1,2,1,1);
INSERT INTO experiment_trial VALUES(1,3,2,1);
CREATE TABLE path (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO path VALUES(1,'attention');
INSERT INTO path VALUES(2,'attention.heads');
INSERT INTO path VALUES(3,'model.d_model');
INSERT INTO path VALUES(4,'model.dropout');
INSERT INTO path VALUES(5,'model.hidden');
INSERT INTO path VALUES(6,'model.layers');
INSERT INTO path VALUES(7,'model.pooling');
INSERT INTO path VALUES(8,'seed');
INSERT INTO path VALUES(9,'task');
INSERT INTO path VALUES(10,'task.data_seed');
INSERT INTO path VALUES(11,'task.examples');
INSERT INTO path VALUES(12,'task.length');
INSERT INTO path VALUES(13,'train.batch');
INSERT INTO path VALUES(14,'train.beta1');
INSERT INTO path VALUES(15,'train.beta2');
INSERT INTO path VALUES(16,'train.clip');
INSERT INTO path VALUES(17,'train.device');
INSERT INTO path VALUES(18,'train.dtype');
INSERT INTO path VALUES(19,'train.epsilon');
INSERT INTO path VALUES(20,'train.evaluate_batches');
INSERT INTO path VALUES(21,'train.evaluate_every');
INSERT INTO path VALUES(22,'train.learning_rate');
INSERT INTO path VALUES(23,'train.schedule');
INSERT INTO path VALUES(24,'train.shuffle_labels');
INSERT INTO path VALUES(25,'train.steps');
INSERT INTO path VALUES(26,'train.test_batches');
INSERT INTO path VALUES(27,'train.threads');
INSERT INTO path VALUES(28,'train.warmup');
INSERT INTO path VALUES(29,'train.weight_decay');
INSERT INTO path VALUES(30,'attention.rate');
INSERT INTO path VALUES(31,'attention.read');
INSERT INTO path VALUES(32,'compression');
INSERT INTO path VALUES(33,'compression.ridge');
INSERT INTO path VALUES(34,'compression.width');
CREATE TABLE value (
  id INTEGER PRIMARY KEY,
  path INTEGER NOT NULL REFERENCES path,
  type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')),
  text TEXT NOT NULL,
  number ANY,
  UNIQUE (path, text, type)
) STRICT;
INSERT INTO value VALUES(1,1,'text','softmax',NULL);
INSERT INTO value VALUES(2,2,'integer','2',2);
INSERT INTO value VALUES(3,3,'integer','8',8);
INSERT INTO value VALUES(4,4,'real','0.1',0.10000000000000000555);
INSERT INTO value VALUES(5,5,'integer','8',8);
INSERT INTO value VALUES(6,6,'integer','1',1);
INSERT INTO value VALUES(7,7,'text','mean',NULL);
INSERT INTO value VALUES(8,8,'integer','1',1);
INSERT INTO value VALUES(9,9,'text','bytes',NULL);
INSERT INTO value VALUES(10,10,'integer','0',0);
INSERT INTO value VALUES(11,11,'integer','256',256);
INSERT INTO value VALUES(12,12,'integer','16',16);
INSERT INTO value VALUES(13,13,'integer','2',2);
INSERT INTO value VALUES(14,14,'real','0.9',0.9000000000000000222);
INSERT INTO value VALUES(15,15,'real','0.999',0.99899999999999999911);
INSERT INTO value VALUES(16,16,'real','0.0',0.0);
INSERT INTO value VALUES(17,17,'text','cpu',NULL);
INSERT INTO value VALUES(18,18,'text','float32',NULL);
INSERT INTO value VALUES(19,19,'real','1e-06',9.9999999999999995472e-07);
INSERT INTO value VALUES(20,20,'integer','1',1);
INSERT INTO value VALUES(21,21,'integer','0',0);
INSERT INTO value VALUES(22,22,'real','0.0001',0.00010000000000000000479);
INSERT INTO value VALUES(23,23,'text','one-cycle',NULL);
INSERT INTO value VALUES(24,24,'boolean','false',0);
INSERT INTO value VALUES(25,25,'integer','2',2);
INSERT INTO value VALUES(26,26,'integer','1',1);
INSERT INTO value VALUES(27,27,'integer','1',1);
INSERT INTO value VALUES(28,28,'integer','0',0);
INSERT INTO value VALUES(29,29,'real','0.0',0.0);
INSERT INTO value VALUES(30,1,'text','compressed',NULL);
INSERT INTO value VALUES(31,30,'text','1/2',0.5);
INSERT INTO value VALUES(32,31,'text','softmax',NULL);
INSERT INTO value VALUES(33,32,'text','rbf',NULL);
INSERT INTO value VALUES(34,33,'real','0.001',0.0010000000000000000208);
INSERT INTO value VALUES(35,34,'real','1.0',1.0);
INSERT INTO value VALUES(36,32,'text','segment-mean',NULL);
CREATE TABLE parameter (
  path INTEGER NOT NULL REFERENCES path,
  trial INTEGER NOT NULL REFERENCES trial,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, trial)
) STRICT, WITHOUT ROWID;
INSERT INTO parameter VALUES(1,1,1);
INSERT INTO parameter VALUES(1,2,30);
INSERT INTO parameter VALUES(1,3,30);
INSERT INTO parameter VALUES(2,1,2);
INSERT INTO parameter VALUES(2,2,2);
INSERT INTO parameter VALUES(2,3,2);
INSERT INTO parameter VALUES(3,1,3);
INSERT INTO parameter VALUES(3,2,3);
INSERT INTO parameter VALUES(3,3,3);
INSERT INTO parameter VALUES(4,1,4);
INSERT INTO parameter VALUES(4,2,4);
INSERT INTO parameter VALUES(4,3,4);
INSERT INTO parameter VALUES(5,1,5);
INSERT INTO parameter VALUES(5,2,5);
INSERT INTO parameter VALUES(5,3,5);
INSERT INTO parameter VALUES(6,1,6);
INSERT INTO parameter VALUES(6,2,6);
INSERT INTO parameter VALUES(6,3,6);
INSERT INTO parameter VALUES(7,1,7);
INSERT INTO parameter VALUES(7,2,7);
INSERT INTO parameter VALUES(7,3,7);
INSERT INTO parameter VALUES(8,1,8);
INSERT INTO parameter VALUES(8,2,8);
INSERT INTO parameter VALUES(8,3,8);
INSERT INTO parameter VALUES(9,1,9);
INSERT INTO parameter VALUES(9,2,9);
INSERT INTO parameter VALUES(9,3,9);
INSERT INTO parameter VALUES(10,1,10);
INSERT INTO parameter VALUES(10,2,10);
INSERT INTO parameter VALUES(10,3,10);
INSERT INTO parameter VALUES(11,1,11);
INSERT INTO parameter VALUES(11,2,11);
INSERT INTO parameter VALUES(11,3,11);
INSERT INTO parameter VALUES(12,1,12);
INSERT INTO parameter VALUES(12,2,12);
INSERT INTO parameter VALUES(12,3,12);
INSERT INTO parameter VALUES(13,1,13);
INSERT INTO parameter VALUES(13,2,13);
INSERT INTO parameter VALUES(13,3,13);
INSERT INTO parameter VALUES(14,1,14);
INSERT INTO parameter VALUES(14,2,14);
INSERT INTO parameter VALUES(14,3,14);
INSERT INTO parameter VALUES(15,1,15);
INSERT INTO parameter VALUES(15,2,15);
INSERT INTO parameter VALUES(15,3,15);
INSERT INTO parameter VALUES(16,1,16);
INSERT INTO parameter VALUES(16,2,16);
INSERT INTO parameter VALUES(16,3,16);
INSERT INTO parameter VALUES(17,1,17);
INSERT INTO parameter VALUES(17,2,17);
INSERT INTO parameter VALUES(17,3,17);
INSERT INTO parameter VALUES(18,1,18);
INSERT INTO parameter VALUES(18,2,18);
INSERT INTO parameter VALUES(18,3,18);
INSERT INTO parameter VALUES(19,1,19);
INSERT INTO parameter VALUES(19,2,19);
INSERT INTO parameter VALUES(19,3,19);
INSERT INTO parameter VALUES(20,1,20);
INSERT INTO parameter VALUES(20,2,20);
INSERT INTO parameter VALUES(20,3,20);
INSERT INTO parameter VALUES(21,1,21);
INSERT INTO parameter VALUES(21,2,21);
INSERT INTO parameter VALUES(21,3,21);
INSERT INTO parameter VALUES(22,1,22);
INSERT INTO parameter VALUES(22,2,22);
INSERT INTO parameter VALUES(22,3,22);
INSERT INTO parameter VALUES(23,1,23);
INSERT INTO parameter VALUES(23,2,23);
INSERT INTO parameter VALUES(23,3,23);
INSERT INTO parameter VALUES(24,1,24);
INSERT INTO parameter VALUES(24,2,24);
INSERT INTO parameter VALUES(24,3,24);
INSERT INTO parameter VALUES(25,1,25);
INSERT INTO parameter VALUES(25,2,25);
INSERT INTO parameter VALUES(25,3,25);
INSERT INTO parameter VALUES(26,1,26);
INSERT INTO parameter VALUES(26,2,26);
INSERT INTO parameter VALUES(26,3,26);
INSERT INTO parameter VALUES(27,1,27);
INSERT INTO parameter VALUES(27,2,27);
INSERT INTO parameter VALUES(27,3,27);
INSERT INTO parameter VALUES(28,1,28);
INSERT INTO parameter VALUES(28,2,28);
INSERT INTO parameter VALUES(28,3,28);
INSERT INTO parameter VALUES(29,1,29);
INSERT INTO parameter VALUES(29,2,29);
INSERT INTO parameter VALUES(29,3,29);
INSERT INTO parameter VALUES(30,2,31);
INSERT INTO parameter VALUES(30,3,31);
INSERT INTO parameter VALUES(31,2,32);
INSERT INTO parameter VALUES(31,3,32);
INSERT INTO parameter VALUES(32,2,33);
INSERT INTO parameter VALUES(32,3,36);
INSERT INTO parameter VALUES(33,2,34);
INSERT INTO parameter VALUES(34,2,35);
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
INSERT INTO environment VALUES(1,'f025c135cef9a69e8759256813e38b530ae6a696e11c8368de6740408d1b5fe9','{"ablate":"0.1.0","compiler":"12.2.0","cores":2,"cpu_capability":"AVX512","git":"4f1a5e2","gpu_driver":"","gpus":[],"host":"vm","libraries":{"glibc":"2.36","libstdc++":"20220819","mkl":"Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications","onednn":"Intel(R) MKL-DNN v3.10.2 (Git Hash f1d471933dc852f956fd05389f9313c7148783d5)","openmp":"OpenMP 201511 (a.k.a. OpenMP 4.5)"},"processor":"AMD EPYC","system":"Linux 6.18.44-fc-v657","torch":"2.11.0","variables":{"OMP_NUM_THREADS":"1","OPENBLAS_CORETYPE":"Haswell","OPENBLAS_L2_SIZE":"512"}}');
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed', 'timeout', 'interrupted')),
  reason TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL,
  peak_resident_bytes INTEGER NOT NULL,
  signal INTEGER,
  exit_code INTEGER,
  environment INTEGER NOT NULL REFERENCES environment,
  output TEXT NOT NULL
, step INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO attempt VALUES(1,1,'done','',1795311718972333,0.16816692899999999277,0.047086000000000002851,100605952,NULL,0,1,'',2,2);
INSERT INTO attempt VALUES(2,2,'done','',1795311719148505,0.094550280999999999909,0.035359999999999995601,105439232,NULL,0,1,'',2,2);
INSERT INTO attempt VALUES(3,3,'done','',1795311719245446,0.064218400999999994405,0.022485999999999999043,102752256,NULL,0,1,'',2,2);
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')),
  description TEXT NOT NULL
) STRICT;
INSERT INTO metric VALUES(1,'memory/peak_resident','MiB','min','most resident memory of the trial''s process, as the kernel counts it');
INSERT INTO metric VALUES(2,'time/cpu','s','min','processor time of the trial''s process, user and system');
INSERT INTO metric VALUES(3,'time/wall','s','min','time from the start of the trial''s process to its end');
INSERT INTO metric VALUES(4,'train/loss','','min','mean training loss over the last window of its curve: each of at most 200 points is the mean since the last one');
INSERT INTO metric VALUES(5,'dev/accuracy','%','max','share of dev examples classified right, at the best dev checkpoint');
INSERT INTO metric VALUES(6,'dev/loss','','min','mean cross-entropy on the dev split, at the best dev checkpoint');
INSERT INTO metric VALUES(7,'dev/best_step','steps','','the step of the best dev checkpoint: the first of the highest dev accuracy');
INSERT INTO metric VALUES(8,'test/accuracy','%','max','share of test examples classified right, with the best dev checkpoint');
INSERT INTO metric VALUES(9,'test/loss','','min','mean cross-entropy on the test split, with the best dev checkpoint');
INSERT INTO metric VALUES(10,'train/forward_time','ms','min','median time of a training step up to its loss: batch and forward pass');
INSERT INTO metric VALUES(11,'train/forward_backward_time','ms','min','median time of a training step up to its gradients');
INSERT INTO metric VALUES(12,'train/step_time','ms','min','median time of a training step: batch, forward, backward, optimiser');
INSERT INTO metric VALUES(13,'train/step_cpu_time','ms','min','median processor time of a training step, all threads of the process together');
INSERT INTO metric VALUES(14,'train/step_spread','%','','how far steps'' times lie apart: the middle half of them over their median, without the first step');
INSERT INTO metric VALUES(15,'train/examples_per_second','examples/s','max','batch size over the median step time');
INSERT INTO metric VALUES(16,'model/parameters','','min','trained numbers of the whole model');
INSERT INTO metric VALUES(17,'memory/peak_tensor','MiB','min','most memory that tensors held at once in training steps: weights, optimiser and activations');
CREATE TABLE result (
  metric INTEGER NOT NULL REFERENCES metric,
  attempt INTEGER NOT NULL REFERENCES attempt,
  value REAL,
  PRIMARY KEY (metric, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO result VALUES(1,1,95.945312499999999998);
INSERT INTO result VALUES(1,2,100.5546875);
INSERT INTO result VALUES(1,3,97.992187500000000003);
INSERT INTO result VALUES(2,1,0.047086000000000002851);
INSERT INTO result VALUES(2,2,0.035359999999999995601);
INSERT INTO result VALUES(2,3,0.022485999999999999043);
INSERT INTO result VALUES(3,1,0.16816692899999999277);
INSERT INTO result VALUES(3,2,0.094550280999999999909);
INSERT INTO result VALUES(3,3,0.064218400999999994405);
INSERT INTO result VALUES(4,1,0.76878422498703002929);
INSERT INTO result VALUES(4,2,0.76807922124862670898);
INSERT INTO result VALUES(4,3,0.76837676763534545898);
INSERT INTO result VALUES(5,1,50.0);
INSERT INTO result VALUES(5,2,50.0);
INSERT INTO result VALUES(5,3,50.0);
INSERT INTO result VALUES(6,1,0.73214203119277954101);
INSERT INTO result VALUES(6,2,0.73006892204284667968);
INSERT INTO result VALUES(6,3,0.72715276479721069335);
INSERT INTO result VALUES(7,1,1.0);
INSERT INTO result VALUES(7,2,1.0);
INSERT INTO result VALUES(7,3,1.0);
INSERT INTO result VALUES(8,1,50.0);
INSERT INTO result VALUES(8,2,50.0);
INSERT INTO result VALUES(8,3,50.0);
INSERT INTO result VALUES(9,1,0.69464099407196044921);
INSERT INTO result VALUES(9,2,0.69882607460021972656);
INSERT INTO result VALUES(9,3,0.69861763715744018554);
INSERT INTO result VALUES(10,1,93.271483000000003473);
INSERT INTO result VALUES(10,2,28.919772999999999285);
INSERT INTO result VALUES(10,3,17.100715999999998473);
INSERT INTO result VALUES(11,1,99.546842999999995528);
INSERT INTO result VALUES(11,2,42.407299999999999327);
INSERT INTO result VALUES(11,3,26.042972999999999927);
INSERT INTO result VALUES(12,1,105.46965600000000051);
INSERT INTO result VALUES(12,2,42.778103000000001544);
INSERT INTO result VALUES(12,3,26.351744000000000057);
INSERT INTO result VALUES(13,1,26.750927999999998263);
INSERT INTO result VALUES(13,2,16.254508000000001289);
INSERT INTO result VALUES(13,3,8.9780669999999993535);
INSERT INTO result VALUES(14,1,96.752616114573143594);
INSERT INTO result VALUES(14,2,71.03723429403838452);
INSERT INTO result VALUES(14,3,89.425413342386818275);
INSERT INTO result VALUES(15,1,18.962800068296420619);
INSERT INTO result VALUES(15,2,46.752891309836712707);
INSERT INTO result VALUES(15,3,75.896305003570162738);
INSERT INTO result VALUES(16,1,2682.0);
INSERT INTO result VALUES(16,2,2700.0);
INSERT INTO result VALUES(16,3,2682.0);
INSERT INTO result VALUES(17,1,0.05860137939453125);
INSERT INTO result VALUES(17,2,0.06929779052734375);
INSERT INTO result VALUES(17,3,0.0586643218994140625);
CREATE TABLE curve (
  attempt INTEGER NOT NULL REFERENCES attempt,
  metric INTEGER NOT NULL REFERENCES metric,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (attempt, metric, step)
) STRICT, WITHOUT ROWID;
INSERT INTO curve VALUES(1,4,1,0.8223387002944946289);
INSERT INTO curve VALUES(1,4,2,0.76878422498703002929);
INSERT INTO curve VALUES(1,5,1,50.0);
INSERT INTO curve VALUES(1,5,2,50.0);
INSERT INTO curve VALUES(1,6,1,0.73214203119277954101);
INSERT INTO curve VALUES(1,6,2,0.7321420907974243164);
INSERT INTO curve VALUES(2,4,1,0.82530236244201660156);
INSERT INTO curve VALUES(2,4,2,0.76807922124862670898);
INSERT INTO curve VALUES(2,5,1,50.0);
INSERT INTO curve VALUES(2,5,2,50.0);
INSERT INTO curve VALUES(2,6,1,0.73006892204284667968);
INSERT INTO curve VALUES(2,6,2,0.73006892204284667968);
INSERT INTO curve VALUES(3,4,1,0.82854491472244262695);
INSERT INTO curve VALUES(3,4,2,0.76837676763534545898);
INSERT INTO curve VALUES(3,5,1,50.0);
INSERT INTO curve VALUES(3,5,2,50.0);
INSERT INTO curve VALUES(3,6,1,0.72715276479721069335);
INSERT INTO curve VALUES(3,6,2,0.72715270519256591796);
CREATE TABLE plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('attention', 'compression', 'task')),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
INSERT INTO plugin VALUES(1,'attention','softmax','1.0.0','8f7837e058e2cae75fe3c9ccc4adf6f07f223baf3e16441b12adfe78d97c4128','6b613eefb49e93ed9aaec72dbde1967db39ed08c698ed4202e2ef7af376e170c','/opt/ablate/lib/ablate/plugins/softmax.so');
INSERT INTO plugin VALUES(2,'task','bytes','1.1.0','c81f2804432ff84d553446b4abb7e32fa9c82c56b262ff0a72baf0224693fb8c','598a551d6884f5d3ba5f8e46c2f6aa78b832606996965b6871fbd22478e402fe','/opt/ablate/lib/ablate/plugins/bytes.so');
INSERT INTO plugin VALUES(3,'attention','compressed','1.0.0','159fd8e4cf43a395a5294a6bbb0ddaf6e955a6412bf6d23a1729c23c32c629db','f329bbb4b47c51da229a8f5c6d7370c5be6e91506217cd2027a82472fdba3411','/opt/ablate/lib/ablate/plugins/compressed.so');
INSERT INTO plugin VALUES(4,'compression','rbf','1.0.0','4b18e07fac859672d14dd6bbf10191081f49b579fca1d3dba224c7bccddb3a1f','1971bb9748306018955f654951910fc2d4a4dc811305e2ab856e8dc69acd60a2','/opt/ablate/lib/ablate/plugins/rbf.so');
INSERT INTO plugin VALUES(5,'compression','segment-mean','1.0.0','cc93314b1159e33c873d6398dc34d638dd73f7bd4219430085c37dceca2e0dcd','9ceb9e5c4ea633263eb905fb21ccd2fcd40c2110e95de3d3c09ea95f8cd9b994','/opt/ablate/lib/ablate/plugins/segment-mean.so');
CREATE TABLE attempt_plugin (
  attempt INTEGER NOT NULL REFERENCES attempt,
  plugin INTEGER NOT NULL REFERENCES plugin,
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;
INSERT INTO attempt_plugin VALUES(1,1);
INSERT INTO attempt_plugin VALUES(1,2);
INSERT INTO attempt_plugin VALUES(2,2);
INSERT INTO attempt_plugin VALUES(2,3);
INSERT INTO attempt_plugin VALUES(2,4);
INSERT INTO attempt_plugin VALUES(3,2);
INSERT INTO attempt_plugin VALUES(3,3);
INSERT INTO attempt_plugin VALUES(3,5);
CREATE TABLE published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE running (
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  key TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  step INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  loss REAL,
  PRIMARY KEY (host, process, started, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_trial_by_trial ON experiment_trial (trial);
CREATE INDEX attempt_by_trial ON attempt (trial, outcome);
CREATE INDEX attempt_by_outcome ON attempt (outcome);
CREATE VIEW "runs" AS SELECT a.id AS "run", (SELECT group_concat(e.name) FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id) AS "experiments", t.id AS "trial", t.key AS "key", a.outcome AS "outcome", a.reason AS "reason", strftime('%Y-%m-%d %H:%M:%S', a.started_us / 1000000, 'unixepoch') AS "started", a.wall_s AS "wall_s", nullif(a.cpu_s, 0) AS "cpu_s", nullif(a.peak_resident_bytes, 0) / 1048576.0 AS "peak_resident_mib", nullif(a.step, 0) AS "step", nullif(a.steps, 0) AS "steps", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 1 AND p.trial = t.id) AS "attention", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 2 AND p.trial = t.id) AS "attention.heads", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 30 AND p.trial = t.id) AS "attention.rate", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 31 AND p.trial = t.id) AS "attention.read", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 32 AND p.trial = t.id) AS "compression", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 33 AND p.trial = t.id) AS "compression.ridge", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 34 AND p.trial = t.id) AS "compression.width", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 3 AND p.trial = t.id) AS "model.d_model", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 4 AND p.trial = t.id) AS "model.dropout", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 5 AND p.trial = t.id) AS "model.hidden", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 6 AND p.trial = t.id) AS "model.layers", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 7 AND p.trial = t.id) AS "model.pooling", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 8 AND p.trial = t.id) AS "seed", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 9 AND p.trial = t.id) AS "task", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 10 AND p.trial = t.id) AS "task.data_seed", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 11 AND p.trial = t.id) AS "task.examples", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 12 AND p.trial = t.id) AS "task.length", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 13 AND p.trial = t.id) AS "train.batch", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 14 AND p.trial = t.id) AS "train.beta1", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 15 AND p.trial = t.id) AS "train.beta2", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 16 AND p.trial = t.id) AS "train.clip", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 17 AND p.trial = t.id) AS "train.device", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 18 AND p.trial = t.id) AS "train.dtype", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 19 AND p.trial = t.id) AS "train.epsilon", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 20 AND p.trial = t.id) AS "train.evaluate_batches", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 21 AND p.trial = t.id) AS "train.evaluate_every", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 22 AND p.trial = t.id) AS "train.learning_rate", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 23 AND p.trial = t.id) AS "train.schedule", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 24 AND p.trial = t.id) AS "train.shuffle_labels", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 25 AND p.trial = t.id) AS "train.steps", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 26 AND p.trial = t.id) AS "train.test_batches", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 27 AND p.trial = t.id) AS "train.threads", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 28 AND p.trial = t.id) AS "train.warmup", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 29 AND p.trial = t.id) AS "train.weight_decay", (SELECT value FROM result WHERE metric = 5 AND attempt = a.id) AS "dev/accuracy", (SELECT value FROM result WHERE metric = 7 AND attempt = a.id) AS "dev/best_step", (SELECT value FROM result WHERE metric = 6 AND attempt = a.id) AS "dev/loss", (SELECT value FROM result WHERE metric = 1 AND attempt = a.id) AS "memory/peak_resident", (SELECT value FROM result WHERE metric = 17 AND attempt = a.id) AS "memory/peak_tensor", (SELECT value FROM result WHERE metric = 16 AND attempt = a.id) AS "model/parameters", (SELECT value FROM result WHERE metric = 8 AND attempt = a.id) AS "test/accuracy", (SELECT value FROM result WHERE metric = 9 AND attempt = a.id) AS "test/loss", (SELECT value FROM result WHERE metric = 2 AND attempt = a.id) AS "time/cpu", (SELECT value FROM result WHERE metric = 3 AND attempt = a.id) AS "time/wall", (SELECT value FROM result WHERE metric = 15 AND attempt = a.id) AS "train/examples_per_second", (SELECT value FROM result WHERE metric = 11 AND attempt = a.id) AS "train/forward_backward_time", (SELECT value FROM result WHERE metric = 10 AND attempt = a.id) AS "train/forward_time", (SELECT value FROM result WHERE metric = 4 AND attempt = a.id) AS "train/loss", (SELECT value FROM result WHERE metric = 13 AND attempt = a.id) AS "train/step_cpu_time", (SELECT value FROM result WHERE metric = 14 AND attempt = a.id) AS "train/step_spread", (SELECT value FROM result WHERE metric = 12 AND attempt = a.id) AS "train/step_time" FROM trial t JOIN attempt a ON a.id = coalesce((SELECT max(id) FROM attempt WHERE trial = t.id AND outcome = 'done'), (SELECT max(id) FROM attempt WHERE trial = t.id));
CREATE VIEW "attempts" AS SELECT a.id AS "run", t.id AS "trial", t.key AS "key", a.outcome AS "outcome", a.reason AS "reason", strftime('%Y-%m-%d %H:%M:%S', a.started_us / 1000000, 'unixepoch') AS "started", a.wall_s AS "wall_s", nullif(a.cpu_s, 0) AS "cpu_s", nullif(a.peak_resident_bytes, 0) / 1048576.0 AS "peak_resident_mib", nullif(a.step, 0) AS "step", nullif(a.steps, 0) AS "steps", a.signal AS "signal", a.exit_code AS "exit_code", a.output AS "output", e.json AS "environment" FROM attempt a JOIN trial t ON t.id = a.trial JOIN environment e ON e.id = a.environment;
CREATE VIEW "curves" AS SELECT (SELECT group_concat(e.name) FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id) AS "experiment", t.key AS "key", c.attempt AS "attempt", m.name AS "metric", c.step AS "step", c.value AS "value" FROM curve c JOIN metric m ON m.id = c.metric JOIN attempt a ON a.id = c.attempt JOIN trial t ON t.id = a.trial;
CREATE VIEW "parameters" AS SELECT t.id AS "trial", t.key AS "key", n.name AS "path", v.text AS "text", v.number AS "number" FROM parameter p JOIN path n ON n.id = p.path JOIN value v ON v.id = p.value JOIN trial t ON t.id = p.trial;
CREATE VIEW "metrics" AS SELECT r.attempt AS "run", t.key AS "key", m.name AS "metric", r.value AS "value", m.unit AS "unit", m.direction AS "direction", m.description AS "description" FROM result r JOIN metric m ON m.id = r.metric JOIN attempt a ON a.id = r.attempt JOIN trial t ON t.id = a.trial;
CREATE VIEW "experiments" AS SELECT e.name AS "experiment", e.description AS "description", e.file AS "file", e.overrides AS "overrides", (SELECT count(*) FROM experiment_trial m WHERE m.experiment = e.id) AS "trials" FROM experiment e;
CREATE VIEW "members" AS SELECT e.name AS "experiment", m.trial AS "trial", m.position AS "position", m.listed AS "listed" FROM experiment_trial m JOIN experiment e ON e.id = m.experiment;
CREATE VIEW "published" AS SELECT e.name AS "experiment", p.trial AS "trial", t.key AS "key", p.metric AS "metric", p.value AS "value", p.source AS "source" FROM published_value p JOIN experiment e ON e.id = p.experiment JOIN trial t ON t.id = p.trial;
COMMIT;
